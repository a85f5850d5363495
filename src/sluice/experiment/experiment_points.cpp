// What an experiment trains: its variants under its conditions, with equal numbers of parameters where that
// is asked.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sluice/experiment/experiment.h"
#include "sluice/experiment/sweep.h"
#include "sluice/model/count.h"

namespace sluice {
namespace {

ModelConfig model_of(const Experiment& experiment, const GridPoint& point) {
  return load_run_config(experiment.run, changes_of_variant(experiment.changes, point)).model;
}

// The width of the feed-forward part with which a model comes nearest to so many parameters. Every
// channel of it takes the same number of them.
int64_t width_for(ModelConfig model, int64_t parameters) {
  const auto count = [&](int64_t width) {
    model.feed_forward = width;
    return count_parameters(model).total();
  };
  const int64_t width = model.feed_forward;
  const int64_t now = count(width), each = count(width + 1) - now;
  const double missing = static_cast<double>(parameters - now) / static_cast<double>(each);
  return std::max<int64_t>(1, width + std::llround(missing));
}

GridPoint point_of(const ExperimentVariant& variant, const ExperimentCondition* condition) {
  if (condition == nullptr) return {.changes = variant.changes, .title = variant.name};
  GridPoint point{.changes = condition->changes,
                  .title = fmt::format("{},{}", variant.name, condition->name)};
  point.changes.insert(point.changes.end(), variant.changes.begin(), variant.changes.end());
  return point;
}

void add_variants(const Experiment& experiment, const ExperimentCondition* condition,
                  std::vector<PlannedVariant>& planned) {
  const size_t first = planned.size();
  for (const ExperimentVariant& variant : experiment.variants) {
    PlannedVariant next{.point = point_of(variant, condition), .variant = variant.name, .against = first};
    ModelConfig model = model_of(experiment, next.point);
    if (variant.equal_parameters && planned.size() > first) {
      model.feed_forward = width_for(model, planned[first].parameters);
      next.point.changes.push_back(fmt::format("model.intermediate_size={}", model.feed_forward));
    }
    next.parameters = count_parameters(model).total();
    if (condition != nullptr) {
      next.condition = condition->name;
      next.at = planned.size() > first ? planned[first].at
                                       : condition->at.value_or(static_cast<double>(next.parameters));
    }
    planned.push_back(std::move(next));
  }
}

}  // namespace

std::vector<PlannedVariant> planned_variants(const Experiment& experiment) {
  std::vector<PlannedVariant> planned;
  if (experiment.variants.empty()) {
    for (const GridPoint& point : grid_points(experiment.axes))
      planned.push_back({.point = point,
                         .variant = point.name(),
                         .parameters = count_parameters(model_of(experiment, point)).total()});
  } else if (experiment.conditions.empty()) {
    add_variants(experiment, nullptr, planned);
  } else {
    for (const ExperimentCondition& condition : experiment.conditions)
      add_variants(experiment, &condition, planned);
  }
  return planned;
}

}  // namespace sluice
