#include "sluice/report/nursery_seeds.h"

#include <algorithm>

#include "sluice/base/assert.h"
#include "sluice/experiment/experiment_runs.h"
#include "sluice/report/nursery.h"

namespace sluice {
namespace {

std::string_view text_of(std::span<const StoredText> stored, std::string_view name) {
  const auto found = std::ranges::find(stored, name, &StoredText::name);
  SLUICE_ASSERT(found != stored.end(), "nursery: {} is not stored", name);
  return found->text;
}

}  // namespace

ExperimentResult stored_result(std::string_view name) {
  const std::string file = std::string(name) + ".json";
  const Experiment experiment = read_experiment(Json::parse(text_of(stored_experiments(), name), file), file);
  return known_result(experiment, text_of(stored_ledgers(), name));
}

ExperimentResult stored_seeds(const NurseryPair& pair) {
  return stored_result(pair.stored);
}

}  // namespace sluice
