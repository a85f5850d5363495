#include "sluice/ablate/ablation_forecast.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sluice/ablate/ablation_preparation.h"
#include "sluice/ablate/plan_cost.h"
#include "sluice/analysis/model_names.h"
#include "sluice/base/stopwatch.h"

namespace sluice {
namespace {

// Of a forward pass for each forward and backward pass of estimates: forward, activations once more, and the
// gradients of activations alone.
constexpr double kEstimateWork = 3;

PlanCost cost_of(const AblationPlan& plan, const ModelConfig& config, const PreparedText& text,
                 int64_t memory) {
  const Chunk chunk = text.text.chunk(0);
  return plan_cost(
      plan, config,
      {.tokens = std::ssize(chunk.ids) - 1, .predicted = chunk.predicted, .runner = {.memory = memory}});
}

// The heads of the first layers stand for those that will be chosen: they share least. So does the plan's
// order for that of their effects.
AblationPlan with_heads_to_come(AblationPlan plan, const ModelConfig& config) {
  const int64_t count = runs_to_come(plan, config);
  std::vector<PlannedRun> heads = heads_that_follow(plan, {}, config);
  std::ranges::stable_sort(heads, {}, &PlannedRun::layer);
  heads.resize(static_cast<size_t>(count));
  std::ranges::move(heads, std::back_inserter(plan.runs));
  if (plan.then && plan.then->first_heads)
    std::ranges::move(first_heads(closed_heads(plan), config), std::back_inserter(plan.runs));
  return plan;
}

void add_costs(ModelForecast& forecast, const AblationRequest& request, const PreparedAblation& prepared) {
  const ModelConfig& config = prepared.config;
  const AblationPlan whole = with_heads_to_come(prepared.plan, config);
  forecast.to_come = forecast.estimates_only ? 0 : std::ssize(whole.runs) - forecast.runs;
  for (const PreparedText& text : prepared.texts) {
    const PlanCost cost = cost_of(whole, config, text, request.memory);
    const auto chunks = static_cast<double>(text.evaluated);
    forecast.trial_work = cost.base.naive;
    if (forecast.estimates_only) continue;
    forecast.memory = std::max(forecast.memory, cost.memory);
    forecast.evaluations += text.evaluated * different_runs(whole);
    forecast.naive += chunks * cost.naive();
    forecast.shared += chunks * cost.shared();
  }
  if (request.estimates == EstimateUse::None || !gate_tap(config)) return;
  // First order takes one pass for open, closed and mean, integrated gradients one per step, position and
  // action.
  const auto passes = static_cast<double>(1 + 3 * std::ssize(config.gates) * request.estimate_steps);
  const int64_t chunks = std::min(request.estimate_chunks, prepared.texts.front().evaluated);
  forecast.estimates = kEstimateWork * passes * static_cast<double>(chunks) * forecast.trial_work;
}

double trial_seconds(const LoadedModel& model, const PreparedText& text, const JobControl& control) {
  const Context context = model.context(nullptr, Packing::Keep);
  const Chunk chunk = text.text.chunk(0);
  (void)chunk_nll(context, model.decoder(), chunk);  // packs the weights
  control.stop_if_cancelled();
  return seconds_of([&] { (void)chunk_nll(context, model.decoder(), chunk); });
}

// Rounded up: what is said to be enough is enough.
std::string mebibytes(int64_t bytes) {
  return fmt::format("{} MiB", (bytes + (1 << 20) - 1) >> 20);
}

std::string seconds_words(double seconds) {
  if (seconds < 120) return fmt::format("{:.1f} s", seconds);
  return seconds < 7200 ? fmt::format("{:.0f} min", seconds / 60) : fmt::format("{:.1f} h", seconds / 3600);
}

}  // namespace

double AblationForecast::seconds() const {
  double sum = 0;
  for (const ModelForecast& model : models) sum += model.seconds();
  return sum;
}

AblationForecast forecast_ablation(Engine& engine, const AblationRequest& request,
                                   const JobControl& control) {
  check_ablation(request);
  AblationForecast forecast;
  std::set<std::string> warned;
  const std::vector<std::string> names = names_of_models(request.models);
  for (size_t i = 0; i < names.size(); ++i) {
    const LoadedModel model(engine, request.models[i], request.options, control);
    PreparedAblation prepared = prepare_ablation(model, request, control);
    tell_warnings(prepared.texts, warned, control);
    if (const std::string words = left_out_words(request, prepared.config); !words.empty())
      control.info("{}: {}", request.models[i], words);
    complete_plan(prepared, model, request, control);
    ModelForecast next{.name = names[i], .estimates_only = request.estimates == EstimateUse::Instead};
    if (!next.estimates_only) next.plan = prepared.plan;
    next.runs = std::ssize(next.plan.runs);
    for (size_t t = 0; t < request.texts.size(); ++t) {
      const PreparedText& text = prepared.texts[t];
      next.texts.push_back({.name = request.texts[t].name,
                            .chunks = text.evaluated,
                            .chunk_length = text.text.chunk_length,
                            .calibration = text.calibration_name});
    }
    add_costs(next, request, prepared);
    next.comparisons = comparisons_of(request, prepared);
    warn_of_memory(request.models[i], request, prepared, control);
    next.trial_seconds = trial_seconds(model, prepared.texts.front(), control);
    forecast.models.push_back(std::move(next));
  }
  return forecast;
}

void warn_of_memory(const std::string& model, const AblationRequest& request,
                    const PreparedAblation& prepared, const JobControl& control) {
  if (request.estimates == EstimateUse::Instead) return;
  const AblationPlan whole = with_heads_to_come(prepared.plan, prepared.config);
  int64_t needed = 0;
  for (const PreparedText& text : prepared.texts)
    needed = std::max(needed, cost_of(whole, prepared.config, text, request.memory).memory);
  if (needed <= request.memory) return;
  control.warn("{}: a run takes {} beside the weights, more than the {} of --memory", model,
               mebibytes(needed), request.memory >> 20);
}

nlohmann::ordered_json to_json(const AblationForecast& forecast) {
  nlohmann::ordered_json models = nlohmann::ordered_json::array();
  for (const ModelForecast& model : forecast.models) {
    nlohmann::ordered_json texts = nlohmann::ordered_json::array();
    for (const TextForecast& text : model.texts)
      texts.push_back({{"name", text.name},
                       {"chunks", text.chunks},
                       {"chunk_length", text.chunk_length},
                       {"calibration", text.calibration}});
    models.push_back({{"name", model.name},
                      {"runs", model.runs},
                      {"runs_of_heads_to_come", model.to_come},
                      {"comparisons", model.comparisons},
                      {"texts", std::move(texts)},
                      {"evaluations", model.evaluations},
                      {"flops_naive", model.naive},
                      {"flops_shared", model.shared},
                      {"flops_estimates", model.estimates},
                      {"memory", model.memory},
                      {"timing", {{"seconds_at_most", model.seconds()}}}});
  }
  return {{"models", std::move(models)}, {"timing", {{"seconds_at_most", forecast.seconds()}}}};
}

namespace {

std::string runs_words(const ModelForecast& model) {
  if (model.estimates_only) return "estimates from gradients, no runs";
  const std::string heads =
      model.to_come > 0 ? fmt::format(", then {} of heads, chosen by what those show", model.to_come) : "";
  return fmt::format("{} runs{}; {} comparisons", model.runs, heads, model.comparisons);
}

std::string cost_words(const ModelForecast& model) {
  if (model.estimates_only) return fmt::format("{:.3g} FLOPs of estimates", model.estimates);
  return fmt::format(
      "at most {} evaluations of a chunk: {:.3g} FLOPs one by one, {:.3g} shared ({:.2f}){}; {} beside the "
      "weights",
      model.evaluations, model.naive, model.shared, model.naive > 0 ? model.shared / model.naive : 0,
      model.estimates > 0 ? fmt::format(", {:.3g} of estimates", model.estimates) : "",
      mebibytes(model.memory));
}

}  // namespace

std::string to_text(const AblationForecast& forecast) {
  std::string text;
  bool runs = false;
  for (const ModelForecast& model : forecast.models) {
    runs = runs || !model.estimates_only;
    text += fmt::format("{}: {}\n", model.name, runs_words(model));
    for (const TextForecast& on : model.texts)
      text += fmt::format("  on {}: {} chunks of {} tokens, calibrated on {}\n", on.name, on.chunks,
                          on.chunk_length, on.calibration);
    text += fmt::format("  {}; {} on this machine\n", cost_words(model), seconds_words(model.seconds()));
  }
  return text + fmt::format("at most {} in all{}\n", seconds_words(forecast.seconds()),
                            runs ? "; runs that are decided earlier rest" : "");
}

}  // namespace sluice
