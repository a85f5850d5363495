#include "sluice/eval/calibration_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "sluice/base/error.h"
#include "sluice/eval/text_source.h"

namespace sluice {
namespace {

void check_long_enough(std::span<const std::vector<TokenId>> sequences, int64_t tokens) {
  const auto shortest = std::ranges::min(sequences, {}, [](const auto& ids) { return ids.size(); }).size();
  if (std::ssize(sequences.front()) >= tokens && static_cast<int64_t>(shortest) >= tokens) return;
  throw bad_input({.where = "--calibration",
                   .what = "too short for a shuffle, which takes another sequence's values",
                   .expected = fmt::format("at least {} tokens", tokens),
                   .got = std::to_string(shortest)});
}

}  // namespace

std::vector<std::vector<TokenId>> read_calibration(const LoadedModel& model, const CalibrationText& text,
                                                   const JobControl& control) {
  if (std::ranges::find(text.files, "-") != text.files.end()) {
    throw usage_error(
        {.where = "--calibration", .what = "cannot be standard input", .hint = "every model reads it anew"});
  }
  const ChunkOptions options{.length = std::max<int64_t>(text.tokens, 2),
                             .at_most = text.sequences,
                             .begin_of_text = text.begin_of_text};
  try {
    const ChunkedText chunked = read_chunks(model, DataFiles{.paths = text.files}, options, control);
    std::vector<std::vector<TokenId>> sequences;
    for (int64_t i = 0; i < chunked.chunks(); ++i) sequences.push_back(chunked.chunk(i).ids);
    return sequences;
  } catch (const Error& error) {
    throw error.inside("--calibration");
  }
}

std::shared_ptr<const Calibration> calibration_for(const LoadedModel& model,
                                                   std::span<const Intervention> interventions,
                                                   const CalibrationText& text, const JobControl& control) {
  if (std::ranges::none_of(interventions, &Intervention::needs_calibration)) {
    if (!text.files.empty())
      control.warn("--calibration without effect: no intervention takes a mean or a shuffle");
    return {};
  }
  if (text.files.empty()) check_calibrated(interventions);
  const std::vector<std::vector<TokenId>> sequences = read_calibration(model, text, control);
  if (std::ranges::any_of(interventions, &Intervention::needs_donors))
    check_long_enough(sequences, text.tokens);
  const Context context = model.context(nullptr, Packing::Keep);
  return calibrate(context, model.decoder(), {.interventions = interventions, .sequences = sequences},
                   control);
}

std::vector<Intervention> calibrated_interventions(const LoadedModel& model,
                                                   const std::vector<std::string>& interventions,
                                                   const CalibrationText& text, const JobControl& control) {
  std::vector<Intervention> parsed = parse_interventions(interventions, model.config());
  give_calibration(parsed, calibration_for(model, parsed, text, control));
  return parsed;
}

}  // namespace sluice
