// A result for the terminal: means, differences, slopes and effects, without the single runs.
#include <fmt/format.h>

#include <algorithm>

#include "sluice/experiment/experiment_effects.h"
#include "sluice/experiment/experiment_result.h"

namespace sluice {
namespace {

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
