#include "sluice/experiment/experiment_tuning.h"

#include <fmt/format.h>

#include <algorithm>

#include "sluice/base/assert.h"
#include "sluice/base/error.h"

namespace sluice {
namespace {

bool is_better(const TriedCondition& one, const TriedCondition& other) {
  return one.loss && (!other.loss || *one.loss < *other.loss);
}

}  // namespace

std::vector<TriedCondition> tried_conditions(const ExperimentResult& result, const std::string& variant) {
  std::vector<TriedCondition> tried;
  for (const PlannedVariant& each : result.variants) {
    if (each.variant != variant || each.condition.empty()) continue;
    const auto condition =
        std::ranges::find(result.experiment.conditions, each.condition, &NamedChanges::name);
    SLUICE_ASSERT(condition != result.experiment.conditions.end(), "{} is no condition", each.condition);
    tried.push_back({.condition = *condition, .at = each.at});
    const auto loss = figure_over_seeds(result, each, &MeasuredTraining::validation_loss);
    if (loss && loss->count == result.experiment.seeds) tried.back().loss = loss->mean;
  }
  std::ranges::stable_sort(tried, {}, &TriedCondition::at);
  return tried;
}

ExperimentCondition best_condition(const ExperimentResult& tuning) {
  const Experiment& experiment = tuning.experiment;
  const auto refuse = [&](std::string what, std::string hint) {
    return bad_input({.where = experiment.name, .what = std::move(what), .hint = std::move(hint)});
  };
  if (experiment.conditions.size() < 3) throw refuse("has no conditions to choose from", "three at least");
  if (experiment.condition_axis == ConditionAxis::Names)
    throw refuse("no edge is known of conditions that are names",
                 "the best of them may lie beyond: give them places on a line");
  if (std::ssize(tuning.runs) < tuning.planned)
    throw refuse(fmt::format("{} of {} runs have ended", tuning.runs.size(), tuning.planned),
                 "train it before what it tunes");
  const std::vector<TriedCondition> tried = tried_conditions(tuning, experiment.variants.front().name);
  if (std::ranges::adjacent_find(tried, {}, &TriedCondition::at) != tried.end())
    throw refuse("two of its conditions have the same place", "give each its own: \"at\"");
  const auto best = std::ranges::min_element(tried, is_better);
  if (!best->loss)
    throw refuse(fmt::format("there is no condition under which all runs of {} count",
                             experiment.variants.front().name),
                 "runs that diverge or do not solve their task choose nothing");
  if (best == tried.begin() || best + 1 == tried.end())
    throw refuse(fmt::format("the best condition, {}, is at the edge of the grid", best->condition.name),
                 "widen the grid");
  return best->condition;
}

}  // namespace sluice
