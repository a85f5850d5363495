#include "sluice/ablate/gate_estimates.h"

#include <algorithm>
#include <numeric>

#include "sluice/ablate/gate_gradients.h"
#include "sluice/base/error.h"
#include "sluice/infer/positions.h"

namespace sluice {
namespace {

// One list of the result, and its sums in nats: one row per chunk, in each the heads of all layers.
struct EstimateSums {
  const GateTargets* targets;
  EstimateMethod method;
  std::string tap;
  std::vector<std::vector<double>> by_chunk = {};
};

class EstimateJob {
 public:
  EstimateJob(const LoadedModel& model, const GateEstimateRequest& request, const JobControl& control)
      : model_(model), request_(request), control_(control), sites_(gate_sites(model.config())) {
    check();
    for (const GateAction action : request.actions)
      targets_.push_back(gate_targets(sites_, action, request.means));
    for (const GateSite& site : sites_) {
      if (taps_.empty() || taps_.back() != site.tap) taps_.push_back(site.tap);
    }
    for (const std::string& tap : taps_) {
      for (const GateTargets& targets : targets_) {
        sums_.push_back({&targets, EstimateMethod::FirstOrder, tap});
        if (request.steps > 0) sums_.push_back({&targets, EstimateMethod::Integrated, tap});
      }
    }
  }

  GateEstimates run() {
    std::vector<int64_t> chunks = request_.chunks;
    if (chunks.empty()) {
      chunks.resize(static_cast<size_t>(request_.text.chunks()));
      std::iota(chunks.begin(), chunks.end(), 0);
    }
    warn_beyond_positions(model_.config(), "a chunk feeds", request_.text.chunk_length - 1, control_);
    passes_ = 1 + request_.steps * std::ssize(taps_) * std::ssize(targets_);
    total_ = passes_ * std::ssize(chunks);
    for (const int64_t chunk : chunks) add_chunk(request_.text.chunk(chunk));
    control_.report("passes", total_, total_);
    return estimates();
  }

 private:
  void check() const;
  void add_chunk(const Chunk& chunk);
  std::vector<double> heads_of(const std::string& tap, const std::vector<std::vector<double>>& by_site) const;
  std::vector<double> integrated(const Chunk& chunk, const EstimateSums& sums);
  GatePass pass(const Chunk& chunk, std::vector<const GateTargets*> targets, std::optional<GatePath> path);
  GateEstimates estimates() const;
  ActionEstimates estimates_of(const EstimateSums& sums) const;

  const LoadedModel& model_;
  const GateEstimateRequest& request_;
  const JobControl& control_;
  std::vector<GateSite> sites_;
  std::vector<std::string> taps_;
  std::vector<GateTargets> targets_;
  std::vector<EstimateSums> sums_;
  std::vector<double> nlls_, tokens_;  // by chunk
  int64_t passes_ = 0, done_ = 0, total_ = 0;
};

void EstimateJob::check() const {
  const auto refuse = [&](std::string what, std::string hint) {
    return usage_error({.where = model_.path().string(), .what = std::move(what), .hint = std::move(hint)});
  };
  if (sites_.empty()) throw refuse("the model has no gates to estimate the effect of", "");
  if (model_.dtype() == DType::I8) throw refuse("no gradient passes weights in int8", "--dtype bf16 has one");
  SLUICE_ASSERT(request_.steps >= 0 && !request_.actions.empty() && request_.text.chunks() > 0,
                "estimate: {} steps, {} actions, {} chunks", request_.steps, request_.actions.size(),
                request_.text.chunks());
}

GatePass EstimateJob::pass(const Chunk& chunk, std::vector<const GateTargets*> targets,
                           std::optional<GatePath> path) {
  control_.stop_if_cancelled();
  control_.report("passes", done_++, total_);
  return run_gate_pass(model_, chunk,
                       {.sites = sites_,
                        .targets = std::move(targets),
                        .path = std::move(path),
                        .activations = request_.activations});
}

// Sums of a tap's heads, layer after layer.
std::vector<double> EstimateJob::heads_of(const std::string& tap,
                                          const std::vector<std::vector<double>>& by_site) const {
  std::vector<double> heads;
  for (size_t i = 0; i < sites_.size(); ++i) {
    if (sites_[i].tap != tap) continue;
    // A gate whose gradient never arrived had no say in the loss.
    std::vector<double> sums = by_site[i];
    sums.resize(static_cast<size_t>(sites_[i].heads));
    heads.insert(heads.end(), sums.begin(), sums.end());
  }
  return heads;
}

std::vector<double> EstimateJob::integrated(const Chunk& chunk, const EstimateSums& sums) {
  std::vector<double> mean;
  const auto steps = static_cast<double>(request_.steps);
  for (int64_t step = 0; step < request_.steps; ++step) {
    const GatePath path{.tap = sums.tap, .share = (static_cast<double>(step) + 0.5) / steps};
    const std::vector<double> heads = heads_of(sums.tap, pass(chunk, {sums.targets}, path).changes.front());
    mean.resize(heads.size());
    for (size_t i = 0; i < heads.size(); ++i) mean[i] += heads[i] / steps;
  }
  return mean;
}

void EstimateJob::add_chunk(const Chunk& chunk) {
  std::vector<const GateTargets*> all;
  for (const GateTargets& targets : targets_) all.push_back(&targets);
  const GatePass unbroken = pass(chunk, all, {});
  nlls_.push_back(unbroken.nll);
  tokens_.push_back(static_cast<double>(chunk.predicted));
  for (EstimateSums& sums : sums_) {
    const auto target = static_cast<size_t>(sums.targets - targets_.data());
    sums.by_chunk.push_back(sums.method == EstimateMethod::FirstOrder
                                ? heads_of(sums.tap, unbroken.changes[target])
                                : integrated(chunk, sums));
  }
}

// Figures of a list: all, then for each layer the whole and its heads.
ActionEstimates EstimateJob::estimates_of(const EstimateSums& sums) const {
  std::vector<int64_t> layers, heads;
  for (const GateSite& site : sites_) {
    if (site.tap != sums.tap) continue;
    layers.push_back(site.layer);
    heads.push_back(site.heads);
  }
  const auto figures_of = [&](std::span<const size_t> draw) {
    std::vector<double> by_head(sums.by_chunk.front().size());
    double tokens = 0;
    for (const size_t chunk : draw) {
      tokens += tokens_[chunk];
      for (size_t i = 0; i < by_head.size(); ++i) by_head[i] += sums.by_chunk[chunk][i];
    }
    std::vector<double> figures = {0.0};
    auto next = by_head.begin();
    for (const int64_t count : heads) {
      const size_t whole = figures.size();
      figures.push_back(0.0);
      for (int64_t head = 0; head < count; ++head) figures.push_back(*next++ / tokens);
      figures[whole] = std::accumulate(figures.end() - count, figures.end(), 0.0);
      figures.front() += figures[whole];
    }
    return figures;
  };
  std::vector<size_t> every(sums.by_chunk.size());
  std::iota(every.begin(), every.end(), size_t{0});
  const std::vector<double> figures = figures_of(every);
  const auto intervals = bootstrap_all(every.size(), figures_of);
  size_t next = 0;
  const auto effect = [&] {
    const EstimatedEffect made{figures[next], intervals.empty() ? std::nullopt : intervals[next]};
    ++next;
    return made;
  };
  ActionEstimates estimates{
      .tap = sums.tap, .action = sums.targets->action, .method = sums.method, .all = effect(), .layers = {}};
  for (size_t i = 0; i < layers.size(); ++i) {
    estimates.layers.push_back({.layer = layers[i], .whole = effect(), .heads = {}});
    for (int64_t head = 0; head < heads[i]; ++head) estimates.layers.back().heads.push_back(effect());
  }
  return estimates;
}

GateEstimates EstimateJob::estimates() const {
  const double tokens = std::accumulate(tokens_.begin(), tokens_.end(), 0.0);
  GateEstimates result{.nll = std::accumulate(nlls_.begin(), nlls_.end(), 0.0) / tokens,
                       .tokens = static_cast<int64_t>(tokens),
                       .chunks = std::ssize(nlls_),
                       .steps = request_.steps,
                       .passes = passes_};
  for (const EstimateSums& sums : sums_) result.estimates.push_back(estimates_of(sums));
  return result;
}

}  // namespace

const EstimatedEffect* ActionEstimates::find(int64_t layer, std::optional<int64_t> head) const {
  const auto found = std::ranges::find(layers, layer, &LayerEstimate::layer);
  if (found == layers.end()) return nullptr;
  if (!head) return &found->whole;
  const bool there = *head >= 0 && *head < std::ssize(found->heads);
  return there ? &found->heads[static_cast<size_t>(*head)] : nullptr;
}

const ActionEstimates* GateEstimates::find(std::string_view tap, GateAction action,
                                           EstimateMethod method) const {
  const auto found = std::ranges::find_if(estimates, [&](const ActionEstimates& each) {
    return each.tap == tap && each.action == action && each.method == method;
  });
  return found == estimates.end() ? nullptr : &*found;
}

GateEstimates estimate_gates(const LoadedModel& model, const GateEstimateRequest& request,
                             const JobControl& control) {
  return EstimateJob(model, request, control).run();
}

}  // namespace sluice
