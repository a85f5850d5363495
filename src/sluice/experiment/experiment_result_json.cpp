// The whole of a result for programs, and its means for the terminal.
#include <fmt/format.h>

#include <algorithm>
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

// "1.23 [1.10, 1.36]"; of differences every number has its sign.
std::string mean_text(const MeanInterval& mean, const ExperimentFigure& figure) {
  if (!mean.half_width) return fmt::format("{:.{}f}", mean.mean, figure.digits);
  const auto [low, high] = within(around(mean), possible_values(figure));
  return fmt::format("{0:.{3}f} [{1:.{3}f}, {2:.{3}f}]", mean.mean, low, high, figure.digits);
}

std::string difference_text(const MeanInterval& mean, const ExperimentFigure& figure) {
  if (!mean.half_width) return fmt::format("{:+.{}f}", mean.mean, figure.digits);
  const auto [low, high] = within(around(mean), possible_differences(figure));
  return fmt::format("{0:+.{3}f} [{1:+.{3}f}, {2:+.{3}f}]", mean.mean, low, high, figure.digits);
}

std::string differences_text(const ExperimentResult& result, const PlannedVariant& variant) {
  std::string text;
  for (const ExperimentFigure& figure : experiment_figures()) {
    if (!figure.is_compared || !is_compared(result, variant)) continue;
    const DifferenceAtLook at_look = planned_difference(result, variant, figure.value);
    const auto shown = at_look.shown();
    if (!shown) continue;
    text += fmt::format(
        "{} minus {}: {} {} ({} pairs{})\n", variant.point.name(), reference_of(result, variant).point.name(),
        figure.title, difference_text(*shown, figure), shown->count,
        at_look.look ? fmt::format(", {:g} % interval", 100 * (1 - at_look.error())) : ", not looked at yet");
  }
  return text;
}

std::string slopes_text(const ExperimentResult& result) {
  std::string text;
  if (!result.experiment.slope) return text;
  for (const ExperimentVariant& variant : std::span(result.experiment.variants).subspan(1))
    for (const ExperimentFigure& figure : experiment_figures())
      if (const auto shown = planned_slope(result, variant.name, figure.value).shown();
          figure.is_compared && shown)
        text += fmt::format("{}: change of the difference of {} per tenfold {}: {}\n", variant.name,
                            figure.title, result.experiment.condition, difference_text(*shown, figure));
  return text;
}

std::string effects_text(const ExperimentResult& result) {
  std::string text;
  if (!result.experiment.breaking) return text;
  const std::vector<PlannedIntervention>& interventions = result.experiment.breaking->interventions;
  for (size_t i = 0; i < interventions.size(); ++i) {
    for (const PlannedVariant& variant : result.variants) {
      if (!variant.can_be_given.at(i)) continue;
      const EffectAtLook effect = effect_at_look(result, variant, i);
      const auto shown = effect.planned.shown();
      if (effect.beyond == 0 && !shown) continue;
      text += fmt::format("{}, {}: change of loss {}\n", variant.point.name(), interventions[i].name,
                          effect.beyond > 0 ? fmt::format("beyond all numbers in {} models", effect.beyond)
                                            : difference_text(*shown, experiment_figures().front()));
    }
  }
  return text;
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

std::string to_text(const ExperimentResult& result) {
  std::string text = fmt::format("{}\n{} of {} runs have ended\n", result.experiment.question,
                                 result.runs.size(), result.planned);
  for (const PlannedVariant& variant : result.variants) {
    for (const ExperimentFigure& figure : experiment_figures()) {
      const auto mean = figure_over_seeds(result, variant, figure.value);
      if (!mean) continue;
      text += fmt::format("{}: {} {} ({} seeds)\n", variant.point.name(), figure.title,
                          mean_text(*mean, figure), mean->count);
    }
    text += differences_text(result, variant);
    if (const auto diverged = std::ranges::count_if(
            result.runs,
            [&](const MeasuredTraining& run) { return run.diverged && run.variant == variant.point.name(); });
        diverged > 0)
      text += fmt::format("{}: {} diverged\n", variant.point.name(), diverged);
  }
  text += slopes_text(result) + effects_text(result);
  return text;
}

}  // namespace sluice
