#include "sluice/ablate/ablation_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "sluice/ablate/shared_text.h"
#include "sluice/base/error.h"

namespace sluice {
namespace {

constexpr int64_t kMostCalibrationChunks = 8;

int64_t standard_inputs_of(const TextSource& source) {
  const auto* files = std::get_if<DataFiles>(&source);
  return files == nullptr ? 0 : std::ranges::count(files->paths, "-");
}

// The chunks from `first` on.
ChunkedText rest_of(const ChunkedText& text, int64_t first) {
  ChunkedText rest = text;
  rest.tokens.erase(rest.tokens.begin(), rest.tokens.begin() + first * text.stride);
  return rest;
}

void check_apart(const LoadedModel& model, const AblationText& text, const ChunkedText& read) {
  if (read.chunks() >= 2) return;
  throw bad_input({.where = model.path().string(),
                   .what = fmt::format("the text {} is too short for this model", text.name),
                   .expected = fmt::format("at least 2 chunks, one of them to calibrate with"),
                   .got = fmt::format("{} tokens, 1 chunk", read.tokens.size()),
                   .hint = "--chunk makes chunks shorter, --calibration takes another text"});
}

// What cannot be read is blamed on the text by its name.
ChunkedText read_named(const LoadedModel& model, const TextSource& source, const std::string& name,
                       const ChunkOptions& options, const JobControl& control) {
  try {
    return read_chunks(model, source, options, control);
  } catch (const Error& error) {
    if (error.report().where != "the text") throw;  // whoever else failed has said where
    throw error.inside(model.path().string() + ": " + name);
  }
}

std::string calibration_file(const TextSource& source) {
  const auto* files = std::get_if<DataFiles>(&source);
  return files == nullptr ? "the calibration text" : "--calibration " + files->paths.front();
}

PreparedText prepare_text(const LoadedModel& model, const AblationText& text, const AblationRequest& request,
                          const JobControl& control) {
  ChunkOptions more = request.chunks;
  if (!request.calibration) more.at_most += kMostCalibrationChunks;
  PreparedText prepared{.text = read_named(model, text.source, text.name, more, control)};
  const int64_t there = prepared.text.chunks();
  if (request.calibration) {
    ChunkOptions few = request.chunks;
    few.at_most = kMostCalibrationChunks;
    prepared.evaluated = there;
    prepared.calibration =
        read_named(model, *request.calibration, calibration_file(*request.calibration), few, control);
    prepared.calibration_name = "a text of its own";
  } else {
    check_apart(model, text, prepared.text);
    const int64_t apart = std::clamp<int64_t>(there / 5, 1, kMostCalibrationChunks);
    prepared.evaluated = std::min(request.chunks.at_most, there - apart);
    prepared.calibration = rest_of(prepared.text, there - apart);
    prepared.calibration_name = fmt::format("its last {} of {} chunks, held apart", apart, there);
  }
  return prepared;
}

// What a reader of the result has to know about a text; bad input if it is another one once more.
void check_separate(std::vector<PreparedText>& texts, const AblationRequest& request) {
  for (size_t i = 0; i < texts.size(); ++i) {
    PreparedText& text = texts[i];
    const std::string& name = request.texts[i].name;
    const auto evaluated = tokens_of_chunks(text.text, text.evaluated);
    if (const int64_t chunks = text.calibration.chunks(),
        shared = chunks_also_in(evaluated, text.calibration, chunks);
        shared > 0)
      text.warnings.push_back(
          fmt::format("{}: {} of the {} chunks of the calibration text are in it, too: means and shuffled "
                      "gates are of text that is evaluated",
                      name, shared, chunks));
    for (size_t j = 0; j < i; ++j) {
      const auto other = tokens_of_chunks(texts[j].text, texts[j].evaluated);
      if (std::ranges::equal(evaluated, other))
        throw bad_input({.where = name,
                         .what = fmt::format("has the same tokens as {}", request.texts[j].name),
                         .hint = "a text is given once"});
      if (const int64_t shared = chunks_also_in(other, text.text, text.evaluated); shared > 0)
        text.warnings.push_back(
            fmt::format("{}: {} of its {} chunks are in {}, too: what both say counts twice", name, shared,
                        text.evaluated, request.texts[j].name));
    }
    if (text.evaluated < ConfidenceSequence::kFewest && request.estimates != EstimateUse::Instead)
      text.warnings.push_back(fmt::format("{}: {} chunks are too few for a verdict, which needs {} at least",
                                          name, text.evaluated, ConfidenceSequence::kFewest));
  }
}

// A usage error for a file that is there twice, under whatever name.
void check_files_differ(const AblationRequest& request) {
  std::vector<std::string> paths;
  for (const AblationText& text : request.texts)
    if (const auto* files = std::get_if<DataFiles>(&text.source))
      paths.insert(paths.end(), files->paths.begin(), files->paths.end());
  for (size_t i = 0; i < paths.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      std::error_code error;  // what cannot be opened is said later
      if (paths[i] != paths[j] && !std::filesystem::equivalent(paths[i], paths[j], error)) continue;
      throw usage_error({.where = "--data",
                         .what = paths[i] == paths[j]
                                     ? fmt::format("{} is given twice", paths[i])
                                     : fmt::format("{} and {} are the same file", paths[j], paths[i])});
    }
  }
}

}  // namespace

void check_sources(const AblationRequest& request) {
  int64_t inputs = request.calibration ? standard_inputs_of(*request.calibration) : 0;
  for (const AblationText& text : request.texts) inputs += standard_inputs_of(text.source);
  if (inputs > 1 || (inputs == 1 && request.models.size() > 1))
    throw usage_error({.where = "-", .what = "standard input can be read only once, for one model"});
  check_files_differ(request);
}

std::vector<PreparedText> prepare_texts(const LoadedModel& model, const AblationRequest& request,
                                        const JobControl& control) {
  std::vector<PreparedText> texts;
  for (const AblationText& text : request.texts) texts.push_back(prepare_text(model, text, request, control));
  check_separate(texts, request);
  return texts;
}

}  // namespace sluice
