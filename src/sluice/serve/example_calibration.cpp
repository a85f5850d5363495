#include "sluice/serve/example_calibration.h"

#include <fmt/format.h>

#include <algorithm>

#include "sluice/data/backcopy.h"
#include "sluice/data/synth.h"
#include "sluice/probe/calibration.h"
#include "sluice/serve/http_message.h"

namespace sluice::serve {
namespace {

constexpr uint64_t kExampleSeed = 1;  // of the nursery's chain, as scripts and demo have it
constexpr uint64_t kExamples = 12;    // sequences
constexpr size_t kExampleTokens =
    256;  // of a sequence at most: a gate's level shows in a few thousand tokens
constexpr uint64_t kBeyondCorpus = uint64_t{1} << 41;  // no training has seen documents that come so late

std::string example_text(bool of_nursery, uint64_t index) {
  if (of_nursery)
    return BackcopyChain(kExampleSeed).document(kBeyondCorpus + index, BackcopyChain::kUsualLetters);
  const auto kinds = all_text_kinds();
  return synth_document(
      {.kind = kinds[index % kinds.size()], .seed = kExampleSeed, .index = kBeyondCorpus + index});
}

std::vector<std::vector<TokenId>> example_sequences(const LoadedModel& model, bool of_nursery) {
  std::vector<std::vector<TokenId>> sequences;
  for (uint64_t i = 0; i < kExamples; ++i) {
    std::vector<TokenId> ids = model.tokenizer().encode(example_text(of_nursery, i));
    ids.resize(std::min(ids.size(), kExampleTokens));
    sequences.push_back(std::move(ids));
  }
  return sequences;
}

// "attn.gate": what the change's taps are called, in whichever layer.
std::string points_of(const TapPattern& tap) {
  std::string names;
  for (const TapPoint& point : points::kAll)
    if (tap.matches_point(point)) names += fmt::format("{} ", point.name);
  return names;
}

// In every layer at once, which takes no longer than in one: the next change may be in another.
std::shared_ptr<const Calibration> example_means(ShelvedModel& shelved, const LoadedModel& model,
                                                 const TapPattern& tap, const JobControl& control) {
  const std::string points = points_of(tap);
  if (std::shared_ptr<const Calibration> known = shelved.example_means.find(points)) return known;
  const std::vector<std::vector<TokenId>> sequences = example_sequences(model, is_of_nursery(shelved));
  const Intervention everywhere{.tap = tap, .change = Change::OverallMean};
  std::shared_ptr<const Calibration> means =
      calibrate(model.context(nullptr, shelved.packing()), model.decoder(),
                {.interventions = {&everywhere, 1}, .sequences = sequences}, control);
  shelved.example_means.put(points, means, 1);
  return means;
}

}  // namespace

void check_can_be_calibrated(std::span<const Intervention> changes) {
  if (std::ranges::any_of(changes, &Intervention::needs_donors))
    throw HttpError(
        400,
        "a shuffle needs calibration text as long as the prompt, which the explorer does not have; "
        "sluice eval --calibration takes it",
        "interventions");
}

std::vector<Intervention> calibrated_on_examples(ShelvedModel& shelved, const LoadedModel& model,
                                                 std::vector<Intervention> changes,
                                                 const JobControl& control) {
  check_can_be_calibrated(changes);
  if (std::ranges::none_of(changes, &Intervention::needs_means)) return changes;
  if (!model.has_tokenizer())
    throw HttpError(400,
                    "a mean is over example texts, which this model has no tokenizer for; "
                    "start with --tokenizer, or use a constant",
                    "interventions");
  for (Intervention& change : changes)
    if (change.needs_means()) change.calibration = example_means(shelved, model, change.tap, control);
  return changes;
}

}  // namespace sluice::serve
