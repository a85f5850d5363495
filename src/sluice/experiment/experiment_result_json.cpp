// The whole of a result for programs.
#include <nlohmann/json.hpp>

#include "sluice/experiment/experiment_effects.h"
#include "sluice/experiment/experiment_result.h"
#include "sluice/experiment/run_record.h"

namespace sluice {

using nlohmann::ordered_json;

namespace {

ordered_json variant_json(const ExperimentResult& result, const PlannedVariant& variant) {
  ordered_json json = {{"variant", variant.point.name()},
                       {"parameters", variant.parameters},
                       {"seeds", counted_runs(result, variant).size()}};
  for (const ExperimentFigure& figure : experiment_figures())
    if (const auto mean = figure_over_seeds(result, variant, figure.value))
      json["means"][figure.key] = to_json(*mean, possible_values(figure));
  if (!is_compared(result, variant)) return json;
  json["against"] = reference_of(result, variant).point.name();
  for (const ExperimentFigure& figure : experiment_figures())
    if (figure.is_compared)
      json["differences"][figure.key] =
          to_json(planned_difference(result, variant, figure.value), possible_differences(figure));
  return json;
}

ordered_json slopes_json(const ExperimentResult& result) {
  ordered_json slopes = ordered_json::array();
  for (const ExperimentVariant& variant : std::span(result.experiment.variants).subspan(1)) {
    ordered_json json = {{"variant", variant.name}};
    for (const ExperimentFigure& figure : experiment_figures())
      if (figure.is_compared) json[figure.key] = to_json(planned_slope(result, variant.name, figure.value));
    slopes.push_back(std::move(json));
  }
  return slopes;
}

// Of every intervention on every variant that can be given it, beside the unbroken models and, if that was
// planned, beside another intervention. An effect beyond all numbers has no mean.
ordered_json effects_json(const ExperimentResult& result) {
  const std::vector<PlannedIntervention>& interventions = result.experiment.breaking->interventions;
  ordered_json effects = ordered_json::array();
  for (size_t i = 0; i < interventions.size(); ++i) {
    for (const PlannedVariant& variant : result.variants) {
      if (!variant.can_be_given.at(i)) continue;
      const EffectAtLook effect = effect_at_look(result, variant, i);
      ordered_json json = {{"intervention", interventions[i].name},
                           {"variant", variant.point.name()},
                           {"beyond_numbers", effect.beyond},
                           {"loss", to_json(effect.planned)}};
      if (const auto against = interventions[i].against; against && variant.can_be_given.at(*against))
        json["against"] = {{"intervention", interventions[*against].name},
                           {"loss", to_json(effect_at_look(result, variant, i, against).planned)}};
      effects.push_back(std::move(json));
    }
  }
  return effects;
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
                       {"pairs_looked_at", nullptr}};
  if (!result.experiment.looks.empty()) json["pairs_looked_at"] = pairs_looked_at(result);
  for (const PlannedVariant& variant : result.variants)
    json["variants"].push_back(variant_json(result, variant));
  if (result.experiment.slope) json["slopes"] = slopes_json(result);
  if (result.experiment.breaking) json["effects"] = effects_json(result);
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

}  // namespace sluice
