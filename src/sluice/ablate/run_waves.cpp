// Shapes: T tokens, D hidden, H heads, hd channels of each, F feed-forward, V vocabulary.
#include "sluice/ablate/run_waves.h"

#include <algorithm>
#include <numeric>

#include "sluice/eval/perplexity.h"

namespace sluice {
namespace {

constexpr int64_t kFloat = sizeof(float);

// Rows of a pass from which on reading the weights takes no time beside the products.
constexpr int64_t kPassRows = 2048;

int64_t stream_bytes(const ModelConfig& config, const WaveLimits& limits) {
  return limits.tokens * config.hidden * kFloat;
}

// Whatever the number of runs: a batch inside a layer, what was kept of the layer that runs enter, and a
// block of logits with the probabilities beside it.
int64_t common_bytes(const ModelConfig& config, const WaveLimits& limits) {
  const int64_t heads = config.heads * config.head_dim;
  const int64_t widest = std::max(4 * heads + 2 * config.hidden, 2 * config.hidden + 3 * config.feed_forward);
  const int64_t rows = limits.tokens * runs_per_pass(limits.tokens);
  const int64_t kept = limits.tokens * (3 * config.hidden + 3 * heads);
  const int64_t logits = 3 * kLogitRows * config.vocabulary;
  return (rows * widest + kept + logits) * kFloat;
}

}  // namespace

int64_t runs_per_pass(int64_t tokens) {
  return std::max<int64_t>(1, kPassRows / std::max<int64_t>(tokens, 1));
}

int64_t wave_memory(int64_t runs, const ModelConfig& config, const WaveLimits& limits) {
  return runs * stream_bytes(config, limits) + common_bytes(config, limits);
}

std::vector<RunWave> run_waves(std::span<const RunEntry> entries, const ModelConfig& config,
                               const WaveLimits& limits) {
  std::vector<size_t> order(entries.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t i) { return entries[i]; });
  const int64_t room = (limits.memory - common_bytes(config, limits)) / stream_bytes(config, limits);
  const auto together = static_cast<size_t>(std::max<int64_t>(room, 1));
  std::vector<RunWave> waves;
  for (size_t first = 0; first == 0 || first < order.size(); first += together) {
    RunWave& wave = waves.emplace_back();
    const size_t last = std::min(order.size(), first + together);
    wave.runs.assign(order.begin() + static_cast<std::ptrdiff_t>(first),
                     order.begin() + static_cast<std::ptrdiff_t>(last));
    wave.base_layers = {0, config.layers};
    if (first == 0) continue;
    // Behind the last layer that is entered, later waves need nothing of the unbroken model.
    const int64_t begin = entries[wave.runs.front()].layer, end = entries[wave.runs.back()].layer + 1;
    wave.base_layers = {std::clamp<int64_t>(begin, 0, config.layers), std::min(end, config.layers)};
    wave.base_layers.end = std::max(wave.base_layers.begin, wave.base_layers.end);
  }
  return waves;
}

}  // namespace sluice
