#include "sluice/eval/calibration_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "sluice/base/error.h"

namespace sluice {
namespace {

// Means settle within a few thousand tokens.
constexpr int64_t kMostCalibrationSequences = 16;

ChunkedText read_files(const LoadedModel& model, const CalibrationText& text, const JobControl& control) {
  if (std::ranges::find(text.files, "-") != text.files.end()) {
    throw usage_error(
        {.where = "--calibration", .what = "cannot be standard input", .hint = "every model reads it anew"});
  }
  try {
    return read_calibration(model, DataFiles{.paths = text.files}, text.cut, control);
  } catch (const Error& error) {
    throw error.inside("--calibration");
  }
}

}  // namespace

ChunkedText read_calibration(const LoadedModel& model, const TextSource& source, const CalibrationCut& cut,
                             const JobControl& control) {
  return read_chunks(model, source,
                     {.length = std::max<int64_t>(cut.tokens, 1) + 1,
                      .at_most = kMostCalibrationSequences,
                      .begin_of_text = cut.begin_of_text},
                     control);
}

std::vector<std::vector<TokenId>> fed_sequences(const ChunkedText& text) {
  std::vector<std::vector<TokenId>> sequences;
  for (int64_t i = 0; i < text.chunks(); ++i) {
    sequences.push_back(text.chunk(i).ids);
    sequences.back().pop_back();
  }
  return sequences;
}

void check_long_enough(const ChunkedText& calibration, const CalibrationCut& cut, const std::string& where) {
  if (calibration.chunk_length > cut.tokens) return;
  throw bad_input({.where = where,
                   .what = "too short for a shuffle, which takes another sequence's values",
                   .expected = fmt::format("at least {} tokens", cut.tokens + 1),
                   .got = std::to_string(calibration.chunk_length)});
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
  const ChunkedText chunked = read_files(model, text, control);
  if (std::ranges::any_of(interventions, &Intervention::needs_donors))
    check_long_enough(chunked, text.cut, "--calibration " + text.files.front());
  const std::vector<std::vector<TokenId>> sequences = fed_sequences(chunked);
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
