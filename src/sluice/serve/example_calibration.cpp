#include "sluice/serve/example_calibration.h"

#include <fmt/format.h>

#include <algorithm>

#include "sluice/data/backcopy.h"
#include "sluice/data/synth.h"
#include "sluice/data/tokenize.h"
#include "sluice/eval/calibration_text.h"
#include "sluice/probe/calibration.h"
#include "sluice/serve/http_message.h"

namespace sluice::serve {
namespace {

constexpr uint64_t kExampleSeed = 1;    // of the nursery's chain, as scripts and demo have it
constexpr uint64_t kSequences = 16;     // of the nursery: as many as an evaluation takes at most
constexpr uint64_t kDocuments = 40;     // of each kind of text eight
constexpr size_t kDocumentBytes = 400;  // of each: many beginnings show more than few whole documents
constexpr uint64_t kBeyondCorpus = uint64_t{1} << 41;  // no training has seen documents that come so late

std::string sequence_of_nursery(uint64_t index) {
  return BackcopyChain(kExampleSeed).document(kBeyondCorpus + index, BackcopyChain::kUsualLetters);
}

std::string generated_text(uint64_t index) {
  const auto kinds = all_text_kinds();
  const std::string text = synth_document(
      {.kind = kinds[index % kinds.size()], .seed = kExampleSeed, .index = kBeyondCorpus + index});
  if (text.size() <= kDocumentBytes) return text;
  const size_t space = text.find_last_of(" \n", kDocumentBytes);
  return text.substr(0, space == std::string::npos ? kDocumentBytes : space);
}

// One after the other with the end-of-text token between them, as texts from a file are joined.
std::vector<TokenId> joined_examples(const LoadedModel& model, const ShelvedModel& shelved) {
  std::vector<TokenId> all;
  for (const std::string& text : example_texts(shelved)) {
    if (!all.empty()) all.push_back(end_of_text_of(model.tokenizer()));
    const std::vector<TokenId> ids = model.encode(text);
    all.insert(all.end(), ids.begin(), ids.end());
  }
  return all;
}

// "attn.gate": what the change's taps are called, in whichever layer.
std::string points_of(const TapPattern& tap) {
  std::string names;
  for (const TapPoint& point : points::kAll)
    if (tap.matches_point(point)) names += fmt::format("{} ", point.name);
  return names;
}

struct MeansPlace {
  const TapPattern& tap;
  int64_t prompt_tokens;
};

// In every layer at once, which takes no longer than in one: the next change may be in another.
std::shared_ptr<const Calibration> example_means(ShelvedModel& shelved, const LoadedModel& model,
                                                 const MeansPlace& place, const JobControl& control) {
  const auto& [tap, prompt_tokens] = place;
  const std::string name = fmt::format("{}{}", points_of(tap), prompt_tokens);
  if (std::shared_ptr<const Calibration> known = shelved.example_means.find(name)) return known;
  const std::vector<std::vector<TokenId>> sequences = fed_sequences(
      read_calibration(model, joined_examples(model, shelved), {.tokens = prompt_tokens - 1}, control));
  const Intervention everywhere{.tap = tap, .change = Change::OverallMean};
  std::shared_ptr<const Calibration> means =
      calibrate(model.context(nullptr, shelved.packing()), model.decoder(),
                {.interventions = {&everywhere, 1}, .sequences = sequences}, control);
  shelved.example_means.put(name, means, 1);
  return means;
}

}  // namespace

std::vector<std::string> example_texts(const ShelvedModel& shelved) {
  const bool nursery = is_of_nursery(shelved);
  std::vector<std::string> texts;
  for (uint64_t i = 0; i < (nursery ? kSequences : kDocuments); ++i)
    texts.push_back(nursery ? sequence_of_nursery(i) : generated_text(i));
  return texts;
}

void check_can_be_calibrated(std::span<const Intervention> changes) {
  if (std::ranges::any_of(changes, &Intervention::needs_donors))
    throw HttpError(
        400,
        "a shuffle needs calibration text as long as the prompt, which the explorer does not have; "
        "sluice eval --calibration takes it",
        "interventions");
}

std::vector<Intervention> calibrated_on_examples(ShelvedModel& shelved, const LoadedModel& model,
                                                 ExampleCalibration wanted, const JobControl& control) {
  std::vector<Intervention>& changes = wanted.changes;
  check_can_be_calibrated(changes);
  if (std::ranges::none_of(changes, &Intervention::needs_means)) return std::move(changes);
  if (!model.has_tokenizer())
    throw HttpError(400,
                    "a mean is over example texts, which this model has no tokenizer for; "
                    "start with --tokenizer, or use a constant",
                    "interventions");
  for (Intervention& change : changes)
    if (change.needs_means())
      change.calibration = example_means(shelved, model, {change.tap, wanted.prompt_tokens}, control);
  return std::move(changes);
}

}  // namespace sluice::serve
