// The whole of a result for programs, and its means for the terminal.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sluice/experiment/experiment_result.h"
#include "sluice/experiment/run_record.h"

namespace sluice {

using nlohmann::ordered_json;

namespace {

ordered_json json_of(const MeanInterval& mean) {
  return {{"mean", mean.mean},
          {"half_width", mean.half_width ? ordered_json(*mean.half_width) : nullptr},
          {"count", mean.count}};
}

// At the last look that was reached, or of all pairs so far; a half-width before a look would be read as an
// answer.
ordered_json json_of(const PlannedDifference& planned) {
  ordered_json json = {{"pairs", planned.pairs}};
  json["look"] =
      planned.look ? ordered_json{{"pairs", planned.look->pairs}, {"error", planned.look->error}} : nullptr;
  if (!planned.difference) return json;
  json["difference"] = json_of(*planned.difference);
  if (!planned.look) json["difference"]["half_width"] = nullptr;
  return json;
}

ordered_json variant_json(const ExperimentResult& result, const PlannedVariant& variant) {
  ordered_json json = {{"variant", variant.point.name()},
                       {"parameters", variant.parameters},
                       {"seeds", counted_runs(result, variant).size()}};
  for (const ExperimentFigure& figure : experiment_figures())
    if (const auto mean = figure_over_seeds(result, variant, figure.value))
      json["means"][figure.key] = json_of(*mean);
  if (!is_compared(result, variant)) return json;
  json["against"] = reference_of(result, variant).point.name();
  for (const ExperimentFigure& figure : experiment_figures())
    if (figure.is_compared)
      json["differences"][figure.key] = json_of(planned_difference(result, variant, figure.value));
  return json;
}

ordered_json slopes_json(const ExperimentResult& result) {
  ordered_json slopes = ordered_json::array();
  for (const ExperimentVariant& variant : std::span(result.experiment.variants).subspan(1)) {
    ordered_json json = {{"variant", variant.name}};
    for (const ExperimentFigure& figure : experiment_figures())
      if (figure.is_compared) json[figure.key] = json_of(planned_slope(result, variant.name, figure.value));
    slopes.push_back(std::move(json));
  }
  return slopes;
}

}  // namespace

ordered_json to_json(const ExperimentResult& result) {
  ordered_json runs = ordered_json::array();
  for (const MeasuredTraining& run : result.runs) {
    ordered_json json = to_json(run);
    json["counts"] = run_counts(result.experiment, run);
    json["timing"] = {{"seconds", run.seconds}};
    runs.push_back(std::move(json));
  }
  ordered_json json = {{"experiment", result.experiment.name},
                       {"question", result.experiment.question},
                       {"planned_runs", result.planned},
                       {"steps", result.steps},
                       {"tokens", result.tokens},
                       {"sink_floor", result.sink_floor},
                       {"machines", result.machines},
                       {"pairs_looked_at", pairs_looked_at(result)}};
  for (const PlannedVariant& variant : result.variants)
    json["variants"].push_back(variant_json(result, variant));
  if (result.experiment.slope) json["slopes"] = slopes_json(result);
  json["runs"] = std::move(runs);
  if (!result.tuned.empty()) json["tuned"] = result.tuned;
  for (const RunCourse& course : result.courses)
    json["courses"].push_back(
        {{"variant", course.variant}, {"seed", course.seed}, {"points", to_json(course.points)}});
  for (const BrokenRun& run : result.broken) {
    ordered_json broken = {{"variant", run.variant}, {"seed", run.seed}};
    broken.update(to_json(run, *result.experiment.breaking));
    json["broken"].push_back(std::move(broken));
  }
  return json;
}

std::string to_text(const ExperimentResult& result) {
  std::string text = fmt::format("{}\n{} of {} runs have ended\n", result.experiment.question,
                                 result.runs.size(), result.planned);
  for (const PlannedVariant& variant : result.variants) {
    for (const ExperimentFigure& figure : experiment_figures()) {
      const auto mean = figure_over_seeds(result, variant, figure.value);
      if (!mean) continue;
      text += fmt::format("{}: {} {:.{}f}", variant.point.name(), figure.title, mean->mean, figure.digits);
      if (mean->half_width) text += fmt::format(" ± {:.{}f}", *mean->half_width, figure.digits);
      text += fmt::format(" ({} seeds)\n", mean->count);
    }
  }
  return text;
}

}  // namespace sluice
