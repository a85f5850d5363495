#include "sluice/experiment/experiment_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sluice/base/error.h"
#include "sluice/experiment/plan_checks.h"
#include "sluice/experiment/sweep.h"
#include "sluice/model/count.h"

namespace sluice {
namespace {

// What is wrong with it is wrong with the experiment's file.
RunConfig config_of(const Experiment& experiment, const GridPoint& point) try {
  return load_run_config(experiment.run, changes_of_variant(experiment.changes, point));
} catch (const Error& error) {
  throw bad_input(error.inside(fmt::format("{}.json: {}", experiment.name, point.name())).report());
}

ModelConfig model_of(const Experiment& experiment, const GridPoint& point) {
  return config_of(experiment, point).model;
}

int64_t parameters_at(ModelConfig model, int64_t width) {
  model.feed_forward = width;
  return count_parameters(model).total();
}

// The width of the feed-forward part with which a model comes nearest to so many parameters, at most half a
// channel of it off. Every channel takes the same number of them; where all layers have experts, none. None:
// the part is too small to make room.
std::optional<int64_t> width_for(const ModelConfig& model, int64_t parameters) {
  const int64_t now = parameters_at(model, model.feed_forward);
  const int64_t each = parameters_at(model, model.feed_forward + 1) - now;
  const double missing = each == 0 ? 0 : static_cast<double>(parameters - now) / static_cast<double>(each);
  const int64_t width = std::max<int64_t>(1, model.feed_forward + std::llround(missing));
  const int64_t difference = std::abs(parameters_at(model, width) - parameters);
  return 2 * difference <= each ? std::optional(width) : std::nullopt;
}

int64_t equal_width(const Experiment& experiment, const GridPoint& point, const ModelConfig& model,
                    int64_t parameters) {
  if (const std::optional<int64_t> width = width_for(model, parameters)) return *width;
  throw bad_input(
      {.where = fmt::format("{}.json: variants: {}: equal_parameters", experiment.name, point.name()),
       .what = "no width of its feed-forward part comes to the parameters of the first variant",
       .expected = std::to_string(parameters),
       .got = std::to_string(count_parameters(model).total()),
       .hint = "make it smaller elsewhere, or leave equal_parameters out"});
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
    PlannedVariant next{.point = point_of(variant, condition), .variant = variant.name, .reference = first};
    ModelConfig model = model_of(experiment, next.point);
    // The first variant has its own number of parameters already.
    if (variant.equal_parameters && planned.size() > first) {
      model.feed_forward = equal_width(experiment, next.point, model, planned[first].parameters);
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

void plan_breaking(const Experiment& experiment, std::vector<PlannedVariant>& planned,
                   std::span<const RunConfig> configs) {
  for (size_t i = 0; i < experiment.breaking->interventions.size(); ++i) {
    const std::vector<bool> given = models_given(experiment, i, configs);
    for (size_t v = 0; v < planned.size(); ++v) planned[v].can_be_given.push_back(given[v]);
  }
}

std::vector<PlannedVariant> grid_variants(const Experiment& experiment) {
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

}  // namespace

std::vector<PlannedVariant> planned_variants(const Experiment& experiment) {
  std::vector<PlannedVariant> planned = grid_variants(experiment);
  std::vector<RunConfig> configs;
  for (const PlannedVariant& each : planned) configs.push_back(config_of(experiment, each.point));
  check_plan(experiment, planned, configs);
  if (experiment.breaking) plan_breaking(experiment, planned, configs);
  for (size_t i = 0; i < planned.size(); ++i) {
    planned[i].steps = configs[i].steps();
    planned[i].sequence = configs[i].sequence;
    planned[i].validation_sequences = configs[i].validation.sequences;
  }
  return planned;
}

const PlannedVariant* find_variant(std::span<const PlannedVariant> planned, std::string_view name) {
  const auto found =
      std::ranges::find(planned, name, [](const PlannedVariant& each) { return each.point.name(); });
  return found == planned.end() ? nullptr : &*found;
}

}  // namespace sluice
