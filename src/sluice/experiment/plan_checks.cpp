#include "sluice/experiment/plan_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sluice/base/error.h"
#include "sluice/probe/intervention.h"

namespace sluice {
namespace {

// What is kept of an experiment's runs together (how long they are, what uniform attention would give the
// first token) holds for each of them.
void check_equal_lengths(const Experiment& experiment, std::span<const PlannedVariant> planned,
                         std::span<const RunConfig> configs) {
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
void check_places(const Experiment& experiment, std::span<const PlannedVariant> planned) {
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

bool can_be_given(const NamedChanges& intervention, const ModelConfig& config) {
  return std::ranges::all_of(intervention.changes,
                             [&](const std::string& change) { return has_what_is_changed(change, config); });
}

std::vector<bool> models_with_all_of(const NamedChanges& intervention, const std::string& where,
                                     std::span<const RunConfig> configs) try {
  std::vector<bool> with;
  for (const RunConfig& config : configs) with.push_back(can_be_given(intervention, config.model));
  return with;
} catch (const Error& error) {
  throw bad_input(error.inside(where).report());
}

}  // namespace

void check_plan(const Experiment& experiment, std::span<const PlannedVariant> planned,
                std::span<const RunConfig> configs) {
  check_equal_lengths(experiment, planned, configs);
  check_documents(experiment, configs.front().sequence);
  check_pieces(experiment, configs.front().sequence);
  check_places(experiment, planned);
}

std::vector<bool> models_given(const Experiment& experiment, size_t intervention,
                               std::span<const RunConfig> configs) {
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

}  // namespace sluice
