#include "sluice/model/rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace sluice {
namespace {

// The channel pair that turns `rotations` times within the original context, as a real number.
double pair_with_rotations(const ModelConfig& config, double original, double rotations) {
  return static_cast<double>(config.rotary) * std::log(original / (rotations * 2 * std::numbers::pi)) /
         (2 * std::log(config.rope_base));
}

// YaRN (Peng et al., 2023, arXiv 2309.00071): pairs that turn often keep their frequency, pairs that turn
// less than once are slowed down by the factor, and those between are blended.
void apply_yarn(const ModelConfig& config, RopeTableOptions& options) {
  const RopeScaling& scaling = config.rope_scaling;
  const auto original =
      static_cast<double>(scaling.original_positions > 0 ? scaling.original_positions : config.positions);
  const double first = std::max(std::floor(pair_with_rotations(config, original, scaling.beta_fast)), 0.0);
  const double last = std::min(std::ceil(pair_with_rotations(config, original, scaling.beta_slow)),
                               static_cast<double>(config.rotary - 1));
  const double span = std::max(last - first, 1e-3);
  for (size_t c = 0; c < options.frequencies.size(); ++c) {
    const double slowed = std::clamp((static_cast<double>(c) - first) / span, 0.0, 1.0);
    options.frequencies[c] *= (1 - slowed) + slowed / scaling.factor;
  }
  options.amplitude = scaling.attention_factor.value_or(0.1 * std::log(scaling.factor) + 1.0);
}

}  // namespace

RopeTableOptions rope_options(const ModelConfig& config, int64_t positions) {
  RopeTableOptions options{.positions = positions,
                           .frequencies = rope_frequencies(config.rotary, config.rope_base)};
  if (config.rope_scaling.kind == RopeScalingKind::Linear) {
    for (double& frequency : options.frequencies) frequency /= config.rope_scaling.factor;
  }
  if (config.rope_scaling.kind == RopeScalingKind::Yarn) apply_yarn(config, options);
  return options;
}

}  // namespace sluice
