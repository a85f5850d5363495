// What breaking the models of an experiment did to their losses, over seeds. The worst are never left out: a
// model whose perplexity is beyond all numbers has an infinite effect, and a mean over such there is none.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sluice/experiment/experiment_result.h"

namespace sluice {

// Of the variant's models that have what the intervention changes.
std::vector<double> effects_on_loss(const ExperimentResult& result, const PlannedVariant& variant,
                                    size_t intervention);

// Of what is a number or infinite; none if there is nothing, or something infinite.
std::optional<MeanInterval> mean_effect(std::span<const double> effects);
int64_t beyond_numbers(std::span<const double> effects);

// How many are more than that: a few large ones make a mean, but not many of these.
int64_t worse_by_more(std::span<const double> effects, double margin);

// An effect over all planned seeds, minus that of another intervention on the same models (none: on
// themselves unbroken). Looking earlier was not planned.
struct EffectAtLook {
  DifferenceAtLook planned = {};  // without a difference if a model is beyond numbers
  int64_t beyond = 0;             // models
};
EffectAtLook effect_at_look(const ExperimentResult& result, const PlannedVariant& variant,
                            size_t intervention, std::optional<size_t> against = {});

}  // namespace sluice
