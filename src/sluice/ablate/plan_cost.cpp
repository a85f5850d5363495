#include "sluice/ablate/plan_cost.h"

#include <algorithm>
#include <numeric>
#include <variant>

#include "sluice/ablate/run_entry.h"
#include "sluice/ablate/run_waves.h"
#include "sluice/model/architecture.h"

namespace sluice {
namespace {

// Of one chunk.
class ChunkFlops {
 public:
  ChunkFlops(const ModelConfig& config, const PlanCostRequest& request) : config_(config) {
    tokens_ = static_cast<double>(request.tokens);
    head_ = 2.0 * static_cast<double>(config.vocabulary * config.hidden * request.predicted);
    for (int64_t layer = 0; layer < config.layers; ++layer)
      layers_.push_back(of_flops(count_layer(config, layer).flops));
  }

  double head() const { return head_; }

  // Of the layers in a range.
  double layers(int64_t begin, int64_t end) const {
    return std::accumulate(layers_.begin() + begin, layers_.begin() + end, 0.0);
  }

  double whole() const { return layers(0, config_.layers) + head_; }

  // From the entry to the end.
  double from(const RunEntry& entry) const {
    if (entry.layer == RunEntry::kEmbedding) return whole();
    if (entry.layer == config_.layers) return head_;
    return in_layer(entry) + layers(entry.layer + 1, config_.layers) + head_;
  }

 private:
  // Each token attends to those before it and to itself.
  double of_flops(const FlopCount& flops) const {
    return tokens_ * (static_cast<double>(flops.products) +
                      static_cast<double>(flops.per_context_token) * (tokens_ + 1) / 2);
  }

  double in_layer(const RunEntry& entry) const {
    if (entry.from == BlockEntry::Stream) return layers_[static_cast<size_t>(entry.layer)];
    const FeedForwardShape shape = feed_forward_shape(config_, entry.layer);
    const double feed_forward =
        std::visit([&](const auto& part) { return of_flops(part.counts().flops); }, shape);
    if (entry.from == BlockEntry::Middle) return feed_forward;
    const int64_t output_projection = config_.hidden * config_.heads * config_.head_dim;
    return feed_forward + 2.0 * tokens_ * static_cast<double>(output_projection);
  }

  const ModelConfig& config_;
  double tokens_, head_;
  std::vector<double> layers_;
};

}  // namespace

double PlanCost::naive() const {
  return std::accumulate(runs.begin(), runs.end(), base.naive,
                         [](double sum, const RunCost& run) { return sum + run.naive; });
}

double PlanCost::shared() const {
  return repeated + std::accumulate(runs.begin(), runs.end(), base.shared,
                                    [](double sum, const RunCost& run) { return sum + run.shared; });
}

PlanCost plan_cost(const AblationPlan& plan, const ModelConfig& config, const PlanCostRequest& request) {
  const ChunkFlops flops(config, request);
  PlanCost cost{.base = {flops.whole(), flops.whole()}, .runs = {}};
  std::vector<RunEntry> entries;
  const std::vector<size_t> equal = equal_runs(plan);
  for (const std::vector<Intervention>& run : parsed_runs(plan, config)) {
    cost.runs.push_back({flops.whole(), 0});
    if (equal[cost.runs.size() - 1] != cost.runs.size() - 1) continue;
    entries.push_back(entry_of_run(run, config));
    cost.runs.back().shared = flops.from(entries.back());
  }
  const WaveLimits limits{.memory = request.runner.memory, .tokens = request.tokens};
  const std::vector<RunWave> waves = run_waves(entries, config, limits);
  for (size_t i = 1; i < waves.size(); ++i) {
    cost.repeated += flops.layers(waves[i].base_layers.begin, waves[i].base_layers.end);
    if (request.runner.divergence) cost.repeated += flops.head();
  }
  for (const RunWave& wave : waves)
    cost.memory = std::max(cost.memory, wave_memory(std::ssize(wave.runs), config, limits));
  return cost;
}

}  // namespace sluice
