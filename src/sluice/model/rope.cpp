#include "sluice/model/rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace sluice {
namespace {

// Turns within this many positions are what all these formulas are about.
double original_positions(const ModelConfig& config) {
  const int64_t original = config.rope_scaling.original_positions;
  return static_cast<double>(original > 0 ? original : config.positions);
}

double factor_of(const ModelConfig& config) {
  return config.rope_scaling.factor.value_or(static_cast<double>(config.positions) /
                                             original_positions(config));
}

// Positions are squeezed into the original ones (Chen et al., 2023, arXiv 2306.15595).
void apply_linear(const ModelConfig& config, RopeTableOptions& options) {
  for (double& frequency : options.frequencies) frequency /= factor_of(config);
}

// NTK-aware scaling that grows with the sequence: nothing changes up to the model's positions, behind them
// the base rises, so that the slowest pair turns as little as it did.
void apply_dynamic(const ModelConfig& config, double length, RopeTableOptions& options) {
  const auto positions = static_cast<double>(config.positions);
  const auto rotary = static_cast<double>(config.rotary);
  if (length <= positions || config.rotary <= 2) return;
  const double factor = factor_of(config);
  const double stretch = factor * length / positions - (factor - 1);
  options.frequencies =
      rope_frequencies(config.rotary, config.rope_base * std::pow(stretch, rotary / (rotary - 2)));
}

// The channel pair that turns `rotations` times within the original context, as a real number.
double pair_with_rotations(const ModelConfig& config, double rotations) {
  return static_cast<double>(config.rotary) *
         std::log(original_positions(config) / (rotations * 2 * std::numbers::pi)) /
         (2 * std::log(config.rope_base));
}

double yarn_amplitude(const RopeScaling& scaling, double factor) {
  const auto scale = [&](double weight) { return factor <= 1 ? 1.0 : 0.1 * weight * std::log(factor) + 1.0; };
  if (scaling.attention_factor) return *scaling.attention_factor;
  // A weight of 0 counts as left out.
  if (scaling.mscale.value_or(0) != 0 && scaling.mscale_all.value_or(0) != 0)
    return scale(*scaling.mscale) / scale(*scaling.mscale_all);
  return scale(1.0);
}

// YaRN (Peng et al., 2023, arXiv 2309.00071): pairs that turn often keep their frequency, pairs that turn
// less than once are slowed down by the factor, and those between are blended.
void apply_yarn(const ModelConfig& config, RopeTableOptions& options) {
  const RopeScaling& scaling = config.rope_scaling;
  double first = pair_with_rotations(config, scaling.beta_fast);
  double last = pair_with_rotations(config, scaling.beta_slow);
  if (scaling.truncate) first = std::floor(first), last = std::ceil(last);
  first = std::max(first, 0.0);
  last = std::min(last, static_cast<double>(config.rotary - 1));
  const double span = last == first ? 1e-3 : last - first;
  const double factor = factor_of(config);
  for (size_t c = 0; c < options.frequencies.size(); ++c) {
    const double slowed = std::clamp((static_cast<double>(c) - first) / span, 0.0, 1.0);
    options.frequencies[c] *= (1 - slowed) + slowed / factor;
  }
  options.amplitude = yarn_amplitude(scaling, factor);
}

// LongRoPE (Ding et al., 2024, arXiv 2402.13753): a factor for each pair, found by search, one list for
// sequences within the original positions and one for longer ones.
void apply_long_rope(const ModelConfig& config, double length, RopeTableOptions& options) {
  const RopeScaling& scaling = config.rope_scaling;
  const double original = original_positions(config), factor = factor_of(config);
  const std::vector<double>& factors = length > original ? scaling.long_factors : scaling.short_factors;
  for (size_t c = 0; c < options.frequencies.size(); ++c) options.frequencies[c] /= factors[c];
  options.amplitude = scaling.attention_factor.value_or(
      factor <= 1 || original <= 1 ? 1.0 : std::sqrt(1 + std::log(factor) / std::log(original)));
}

// Llama 3.1: as YaRN, but blended by turns and not by index, and without an amplitude.
void apply_llama3(const ModelConfig& config, RopeTableOptions& options) {
  const RopeScaling& scaling = config.rope_scaling;
  for (double& frequency : options.frequencies) {
    const double turns = original_positions(config) * frequency / (2 * std::numbers::pi);
    const double kept = std::clamp(
        (turns - scaling.low_frequency) / (scaling.high_frequency - scaling.low_frequency), 0.0, 1.0);
    frequency *= kept + (1 - kept) / factor_of(config);
  }
}

}  // namespace

RopeTableOptions rope_options(const ModelConfig& config, int64_t past, int64_t positions) {
  RopeTableOptions options{.positions = positions,
                           .first_position = past,
                           .frequencies = rope_frequencies(config.rotary, config.rope_base)};
  const auto length = static_cast<double>(past + positions);
  switch (config.rope_scaling.kind) {
    case RopeScalingKind::None:
      break;
    case RopeScalingKind::Linear:
      apply_linear(config, options);
      break;
    case RopeScalingKind::Dynamic:
      apply_dynamic(config, length, options);
      break;
    case RopeScalingKind::Yarn:
      apply_yarn(config, options);
      break;
    case RopeScalingKind::LongRope:
      apply_long_rope(config, length, options);
      break;
    case RopeScalingKind::Llama3:
      apply_llama3(config, options);
      break;
  }
  return options;
}

}  // namespace sluice
