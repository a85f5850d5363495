#include "sluice/bench/ablate.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <numeric>

#include "sluice/ablate/plan_cost.h"
#include "sluice/ablate/plan_request.h"
#include "sluice/ablate/plan_runner.h"
#include "sluice/base/median.h"
#include "sluice/base/stopwatch.h"
#include "sluice/base/system.h"
#include "sluice/bench/figures.h"
#include "sluice/eval/evaluate.h"

namespace sluice::bench {
namespace {

// All gates to 1, 0 and 0.116; ten constants; each layer open; each head closed in the first three layers.
AblationPlan seeds_plan(const ModelConfig& config, bool layers_only) {
  PlanRequest request{.global_actions = {"open", "closed"}, .layer_actions = {"open"}};
  if (!gate_tap(config)) request.layer_actions = {"closed"};  // an ungated model has nothing to open
  request.groups = {"layers"};
  if (layers_only) return make_plan(request, config);
  request.groups = {"global", "constants", "layers", "heads"};
  request.head_layers = IndexSet::parse(fmt::format("0-{}", std::min<int64_t>(config.layers, 3) - 1));
  return make_plan(request, config);
}

ChunkedText ablated_text(const ModelConfig& config, int64_t chunks, int64_t length) {
  std::vector<TokenId> ids;
  for (int64_t i = 0; i < chunks * length; ++i)
    ids.push_back(static_cast<TokenId>(
        Random(1).below(static_cast<uint64_t>(i), static_cast<uint64_t>(config.vocabulary))));
  return cut_into_chunks(std::move(ids), {.length = length}, {});
}

// Spread evenly over the plan.
std::vector<size_t> timed_alone(size_t runs, int64_t wanted) {
  const size_t count = wanted == 0 ? runs : std::min(runs, static_cast<size_t>(wanted));
  std::vector<size_t> chosen;
  for (size_t i = 0; i < count; ++i) chosen.push_back(i * runs / count);
  return chosen;
}

PlanGrowth plan_growth(const ModelConfig& config, const AblateRequest& request,
                       const PlanCostRequest& costs) {
  const AblationPlan plan = seeds_plan(config, request.layers_only);
  const PlanCost cost = plan_cost(plan, config, costs);
  const double evaluation = cost.base.naive;
  return {.layers = config.layers,
          .heads = config.heads,
          .runs = std::ssize(plan.runs),
          .naive = cost.naive() / evaluation,
          .shared = cost.shared() / evaluation};
}

// Beside the model: one of half its depth and one of twice, with half as many heads and with twice as many.
std::vector<PlanGrowth> growth_of_plan(const ModelConfig& config, const AblateRequest& request,
                                       const PlanCostRequest& costs) {
  std::vector<PlanGrowth> growth{plan_growth(config, request, costs)};
  const auto add = [&](int64_t layers, int64_t heads, int64_t kv_heads) {
    ModelConfig other = config;
    other.layers = layers;
    other.head_dim = config.heads * config.head_dim / heads;
    other.heads = heads;
    other.kv_heads = kv_heads;
    growth.push_back(plan_growth(other, request, costs));
  };
  if (config.layers > 1) add(config.layers / 2, config.heads, config.kv_heads);
  add(config.layers * 2, config.heads, config.kv_heads);
  if (config.heads % 2 == 0 && config.kv_heads % 2 == 0)
    add(config.layers, config.heads / 2, config.kv_heads / 2);
  if (config.head_dim % 2 == 0) add(config.layers, config.heads * 2, config.kv_heads * 2);
  return growth;
}

}  // namespace

AblateCost measure_ablation(Engine& engine, const AblateRequest& request, const JobControl& control) {
  const LoadedModel model(engine, request.model.model,
                          {.dtype = request.model.dtype, .nonfinite = request.model.nonfinite}, control);
  AblateCost cost{.model = request.model.model,
                  .tokens = request.model.tokens == 0 ? 512 : request.model.tokens,
                  .chunks = request.chunks,
                  .repetitions = request.model.repetitions};
  const AblationPlan plan = seeds_plan(model.config(), request.layers_only);
  const ChunkedText text = ablated_text(model.config(), cost.chunks, cost.tokens);
  const PlanRunnerOptions options{.divergence = false, .signs = false};  // an evaluation has neither
  const PlanRunner runner(model, plan, {}, options);
  const std::vector<size_t> alone = timed_alone(plan.runs.size(), request.naive_runs);
  std::vector<size_t> all(plan.runs.size());
  std::iota(all.begin(), all.end(), size_t{0});
  const JobControl quiet{.progress = {}, .cancelled = control.cancelled};
  const Context context = model.context(nullptr, Packing::Keep);
  // Of the unbroken model, too: it is what all others are held against.
  const auto run_alone = [&](const std::vector<Intervention>& changes) {
    std::optional<Intervener> intervener;
    if (!changes.empty()) intervener.emplace(changes);
    const Context probed = context.with_probe(intervener ? &*intervener : nullptr);
    for (int64_t i = 0; i < text.chunks(); ++i) {
      quiet.stop_if_cancelled();
      chunk_nll(probed, model.decoder(), text.chunk(i));
    }
  };
  const std::vector<std::vector<Intervention>> changes = parsed_runs(plan, model.config());
  run_alone({});  // packs the weights
  std::vector<double> naive, shared, ratios;
  for (int repetition = 0; repetition < cost.repetitions; ++repetition) {
    control.report("repetitions", repetition, cost.repetitions);
    const double unbroken = seconds_of([&] { run_alone({}); });
    const double broken = seconds_of([&] {
      for (const size_t run : alone) run_alone(changes[run]);
    });
    naive.push_back(unbroken + broken * static_cast<double>(all.size()) / static_cast<double>(alone.size()));
    shared.push_back(seconds_of([&] {
      for (int64_t i = 0; i < text.chunks(); ++i) runner.measure(text.chunk(i), i, all, quiet);
    }));
    ratios.push_back(shared.back() / naive.back());
  }
  const PlanCostRequest costs{
      .tokens = text.chunk_length - 1, .predicted = text.chunk_length - 1, .runner = options};
  const PlanCost planned = plan_cost(plan, model.config(), costs);
  cost.runs = std::ssize(all);
  cost.naive_runs = std::ssize(alone);
  cost.naive = median(naive);
  cost.shared = median(shared);
  cost.ratio = median(ratios);
  cost.bound = planned.shared() / planned.naive();
  cost.planned_bytes = planned.memory;
  cost.weight_bytes = weight_bytes(model.decoder());
  cost.resident = peak_resident_bytes();
  cost.growth = growth_of_plan(model.config(), request, costs);
  return cost;
}

nlohmann::ordered_json to_json(const AblateCost& cost) {
  auto growth = nlohmann::ordered_json::array();
  for (const PlanGrowth& grown : cost.growth) {
    growth.push_back({{"layers", grown.layers},
                      {"heads", grown.heads},
                      {"runs", grown.runs},
                      {"naive_evaluations", rounded(grown.naive)},
                      {"shared_evaluations", rounded(grown.shared)}});
  }
  return {{"what", "ablate"},
          {"model", cost.model.string()},
          {"tokens", cost.tokens},
          {"chunks", cost.chunks},
          {"runs", cost.runs},
          {"naive_runs_timed", cost.naive_runs},
          {"repetitions", cost.repetitions},
          {"naive_s", rounded(cost.naive)},
          {"shared_s", rounded(cost.shared)},
          {"ratio", rounded(cost.ratio)},
          {"bound", rounded(cost.bound)},
          {"planned_bytes", cost.planned_bytes},
          {"weight_bytes", cost.weight_bytes},
          {"peak_resident_bytes", cost.resident},
          {"growth", std::move(growth)}};
}

std::string to_text(const AblateCost& cost) {
  const auto resident = static_cast<double>(cost.resident);
  const std::string timed =
      cost.naive_runs == cost.runs ? std::string() : fmt::format(", from {} of the runs", cost.naive_runs);
  std::string growth;
  for (const PlanGrowth& grown : cost.growth) {
    growth += line(growth.empty() ? "growth" : "",
                   fmt::format("{} layers of {} heads: {} runs, {:.1f} evaluations alone, {:.1f} shared",
                               grown.layers, grown.heads, grown.runs, grown.naive, grown.shared));
  }
  return line("plan", fmt::format("{} runs and the unbroken model, {} chunks of {} tokens", cost.runs,
                                  cost.chunks, cost.tokens)) +
         line("alone", fmt::format("{} s{}", figure(cost.naive), timed)) +
         line("shared", fmt::format("{} s, {:.3f} times the time", figure(cost.shared), cost.ratio)) +
         line("bound", fmt::format("{:.3f} times the arithmetic: {:.3f} times the bound", cost.bound,
                                   cost.ratio / cost.bound)) +
         line("memory", fmt::format("{:.2f} GB resident at most, {:.2f} times the weights; planned {:.2f} GB "
                                    "beside them",
                                    resident / 1e9, resident / static_cast<double>(cost.weight_bytes),
                                    static_cast<double>(cost.planned_bytes) / 1e9)) +
         growth;
}

}  // namespace sluice::bench
