#include "sluice/experiment/experiment_effects.h"

#include <algorithm>
#include <cmath>

namespace sluice {
namespace {

// Of a model that was not broken, or does not have what is changed: no number.
double effect_on(const ExperimentResult& result, const MeasuredTraining& run, size_t intervention) {
  for (const BrokenRun& broken : result.broken)
    if (broken.variant == run.variant && broken.seed == run.seed) return broken.effects[intervention].loss;
  return MeasuredTraining::kNotMeasured;
}

}  // namespace

std::vector<double> effects_on_loss(const ExperimentResult& result, const PlannedVariant& variant,
                                    size_t intervention) {
  std::vector<double> effects;
  for (const BrokenRun& run : result.broken)
    if (const double loss = run.effects[intervention].loss;
        run.variant == variant.point.name() && !std::isnan(loss))
      effects.push_back(loss);
  return effects;
}

std::optional<MeanInterval> mean_effect(std::span<const double> effects) {
  if (effects.empty() || beyond_numbers(effects) > 0) return {};
  return mean_interval(effects);
}

int64_t beyond_numbers(std::span<const double> effects) {
  return std::ranges::count_if(effects, [](double each) { return std::isinf(each); });
}

int64_t worse_by_more(std::span<const double> effects, double margin) {
  return std::ranges::count_if(effects, [&](double each) { return each > margin; });
}

EffectAtLook effect_at_look(const ExperimentResult& result, const PlannedVariant& variant,
                            size_t intervention, std::optional<size_t> against) {
  EffectAtLook effect;
  std::vector<EndedPair> pairs;
  for (const MeasuredTraining& run : result.runs) {
    if (run.variant != variant.point.name()) continue;
    pairs.push_back({.seed_index = run.seed - result.experiment.first_seed});
    const double own = effect_on(result, run, intervention);
    const double other = against ? effect_on(result, run, *against) : 0;
    if (std::isnan(own) || std::isnan(other)) continue;
    if (std::isinf(own) || std::isinf(other)) ++effect.beyond;
    pairs.back().difference = own - other;
  }
  if (effect.beyond > 0)
    for (EndedPair& pair : pairs) pair.difference.reset();
  const ExperimentLook last{.pairs = result.experiment.seeds, .error = kUsualError};
  effect.planned = difference_at_look(pairs, std::span(&last, 1));
  return effect;
}

}  // namespace sluice
