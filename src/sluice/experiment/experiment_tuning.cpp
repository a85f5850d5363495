#include "sluice/experiment/experiment_tuning.h"

#include <fmt/format.h>

#include <limits>

#include "sluice/base/error.h"

namespace sluice {

const ExperimentCondition& best_condition(const ExperimentResult& tuning) {
  const std::vector<ExperimentCondition>& conditions = tuning.experiment.conditions;
  const auto refuse = [&](std::string what, std::string hint) {
    return bad_input({.where = tuning.experiment.name, .what = std::move(what), .hint = std::move(hint)});
  };
  if (conditions.size() < 3) throw refuse("has no conditions to choose from", "three at least");
  if (std::ssize(tuning.runs) < tuning.planned)
    throw refuse(fmt::format("{} of {} runs have ended", tuning.runs.size(), tuning.planned),
                 "train it before what it tunes");
  size_t best = 0;
  double lowest = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < conditions.size(); ++i) {
    // The first variant of each condition: variants lie condition after condition.
    const PlannedVariant& variant = tuning.variants[i * tuning.experiment.variants.size()];
    const auto loss = figure_over_seeds(tuning, variant, &MeasuredTraining::validation_loss);
    if (!loss || loss->mean >= lowest) continue;
    lowest = loss->mean;
    best = i;
  }
  if (best == 0 || best + 1 == conditions.size())
    throw refuse(fmt::format("the best condition, {}, is at the edge of the grid", conditions[best].name),
                 "widen the grid");
  return conditions[best];
}

}  // namespace sluice
