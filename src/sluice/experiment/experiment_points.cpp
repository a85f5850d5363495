// What an experiment trains: its variants under its conditions, with equal numbers of parameters where that
// is asked. What cannot be compared, or not be broken as it is planned, is refused before anything is made.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "sluice/base/error.h"
#include "sluice/experiment/experiment.h"
#include "sluice/experiment/experiment_breaking.h"
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

// The width of the feed-forward part with which a model comes nearest to so many parameters. Every channel of
// it takes the same number of them; where all layers have experts, none. Half a channel is as near as it has
// to come: what is further off has less to give than a gate takes.
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

// What is kept of an experiment's runs together (how long they are, what uniform attention would give the
// first token) holds for each of them.
void check_equal_lengths(const Experiment& experiment, const std::vector<PlannedVariant>& planned,
                         const std::vector<RunConfig>& configs) {
  const auto check = [&](size_t i, const char* key, int64_t first, int64_t own) {
    if (own == first) return;
    throw bad_input({.where = fmt::format("{}.json: {}: {}", experiment.name, planned[i].point.name(), key),
                     .what = "runs of an experiment are of the same length",
                     .expected = fmt::format("{}, as of {}", first, planned.front().point.name()),
                     .got = std::to_string(own)});
  };
  for (size_t i = 1; i < configs.size(); ++i) {
    check(i, "sequence", configs.front().sequence, configs[i].sequence);
    check(i, "steps", configs.front().steps(), configs[i].steps());
    check(i, "batch_tokens", configs.front().batch_tokens, configs[i].batch_tokens);
  }
}

// A sequence of a backcopy text is a document, which begins with what the text says it does.
void check_documents(const Experiment& experiment, int64_t sequence) {
  if (experiment.text.kind != ExperimentText::Kind::Backcopy || sequence == BackcopyChain::kUsualSequence)
    return;
  throw bad_input({.where = experiment.name + ".json: sequence",
                   .what = "documents of a backcopy text are sequences",
                   .expected = std::to_string(BackcopyChain::kUsualSequence),
                   .got = std::to_string(sequence)});
}

// A text that was cut into pieces begins every sequence alike only if these are as long.
void check_pieces(const Experiment& experiment, int64_t sequence) {
  if (!experiment.text.pieces || *experiment.text.pieces == sequence) return;
  throw bad_input({.where = experiment.name + ".json: text.pieces",
                   .what = "pieces of a text are as long as sequences",
                   .expected = std::to_string(sequence),
                   .got = std::to_string(*experiment.text.pieces)});
}

// A slope needs a line: places that differ.
void check_places(const Experiment& experiment, const std::vector<PlannedVariant>& planned) {
  if (!experiment.slope) return;
  std::set<double> places;
  for (const PlannedVariant& each : planned) places.insert(each.at);
  if (places.size() == experiment.conditions.size()) return;
  throw bad_input({.where = experiment.name + ".json: conditions",
                   .what = "a slope goes through places that differ",
                   .expected = fmt::format("{}", experiment.conditions.size()),
                   .got = fmt::format("{}", places.size())});
}

bool meets_a_token(const Intervention& intervention, int64_t sequence) {
  for (int64_t position = 0; position < sequence; ++position)
    if (intervention.positions.contains(position)) return true;
  return false;
}

// As it will be read when the models are there, so that nothing is refused then.
void check_change(const std::string& where, const std::string& change, const RunConfig& config) try {
  if (!meets_a_token(parse_intervention(change, config.model), config.sequence))
    throw usage_error({.what = "no token of a sequence has such a position",
                       .expected = fmt::format("0 to {}", config.sequence - 1)});
} catch (const Error& error) {
  throw bad_input(error.inside(where).report());
}

std::vector<bool> models_with_all_of(const NamedChanges& intervention, const std::string& where,
                                     const std::vector<RunConfig>& configs) try {
  std::vector<bool> with;
  for (const RunConfig& config : configs) with.push_back(can_be_given(intervention, config.model));
  return with;
} catch (const Error& error) {
  throw bad_input(error.inside(where).report());
}

// Whether each of the models has what the intervention changes; those that do are checked to take it.
std::vector<bool> models_given(const Experiment& experiment, size_t intervention,
                               const std::vector<RunConfig>& configs) {
  const NamedChanges& named = experiment.breaking->interventions[intervention];
  const std::string where =
      fmt::format("{}.json: breaking.interventions[{}].do", experiment.name, intervention);
  std::vector<bool> given = models_with_all_of(named, where, configs);
  // One that no model takes is refused with what the first one lacks.
  const bool some = std::ranges::count(given, true) > 0;
  for (size_t i = 0; i < configs.size(); ++i) {
    if (some && !given[i]) continue;
    for (size_t c = 0; c < named.changes.size(); ++c)
      check_change(fmt::format("{}[{}]", where, c), named.changes[c], configs[i]);
  }
  return given;
}

void plan_breaking(const Experiment& experiment, std::vector<PlannedVariant>& planned,
                   const std::vector<RunConfig>& configs) {
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
  check_equal_lengths(experiment, planned, configs);
  check_documents(experiment, configs.front().sequence);
  check_pieces(experiment, configs.front().sequence);
  check_places(experiment, planned);
  if (experiment.breaking) plan_breaking(experiment, planned, configs);
  for (size_t i = 0; i < planned.size(); ++i) {
    planned[i].steps = configs[i].steps();
    planned[i].sequence = configs[i].sequence;
    planned[i].validation_sequences = configs[i].validation.sequences;
  }
  return planned;
}

}  // namespace sluice
