#include "sluice/ablate/ablation_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>

#include "sluice/ablate/shared_text.h"
#include "sluice/base/error.h"
#include "sluice/eval/calibration_text.h"

namespace sluice {
namespace {

constexpr int64_t kMostHeldApart = 8;  // chunks
// Below this a mean of gates, which vary by about 0.3, is off by 0.02 and more.
constexpr int64_t kFewTokensOfMeans = 256;

int64_t standard_inputs_of(const TextSource& source) {
  const auto* files = std::get_if<DataFiles>(&source);
  return files == nullptr ? 0 : std::ranges::count(files->paths, "-");
}

// The chunks from `first` on.
ChunkedText rest_of(const ChunkedText& text, int64_t first) {
  ChunkedText rest = text;
  rest.tokens.erase(rest.tokens.begin(), rest.tokens.begin() + first * text.stride);
  rest.predicted_bytes.reset();
  return rest;
}

// The chunks before `end`.
ChunkedText beginning_of(ChunkedText text, int64_t end) {
  text.tokens.resize(tokens_of_chunks(text, end).size());
  text.predicted_bytes.reset();
  return text;
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
ChunkedText blaming(const LoadedModel& model, const std::string& name,
                    const std::function<ChunkedText()>& read) {
  try {
    return read();
  } catch (const Error& error) {
    if (error.report().where != "the text") throw;  // whoever else failed has said where
    throw error.inside(model.path().string() + ": " + name);
  }
}

CalibrationCut cut_of(const ChunkedText& text) {
  return {.tokens = text.chunk_length - 1, .begin_of_text = text.begin_of_text};
}

std::string calibration_file(const TextSource& source) {
  const auto* files = std::get_if<DataFiles>(&source);
  return files == nullptr ? "the calibration text" : "--calibration " + files->paths.front();
}

PreparedText prepare_text(const LoadedModel& model, const AblationText& text, const AblationRequest& request,
                          const JobControl& control) {
  ChunkOptions more = request.chunks;
  if (!request.calibration) more.at_most += kMostHeldApart;
  PreparedText prepared{
      .text = blaming(model, text.name, [&] { return read_chunks(model, text.source, more, control); })};
  const int64_t there = prepared.text.chunks();
  if (request.calibration) {
    prepared.evaluated = there;
    prepared.calibration = blaming(model, calibration_file(*request.calibration), [&] {
      return read_calibration(model, *request.calibration, cut_of(prepared.text), control);
    });
    prepared.calibration_name = kOwnCalibration;
  } else {
    check_apart(model, text, prepared.text);
    // What nobody asked to evaluate costs nothing; of the rest a fifth.
    const int64_t unused = there - request.chunks.at_most;
    const int64_t apart = std::clamp<int64_t>(std::max(there / 5, unused), 1, kMostHeldApart);
    prepared.evaluated = std::min(request.chunks.at_most, there - apart);
    prepared.calibration = rest_of(prepared.text, there - apart);
    prepared.calibration_name = apart == 1 ? std::string("the chunk behind them, held apart")
                                           : fmt::format("the {} chunks behind them, held apart", apart);
    prepared.text = beginning_of(std::move(prepared.text), prepared.evaluated);
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

// Draws of the shuffle that has most of them; 0 without one.
int64_t most_draws(std::span<const Intervention> interventions) {
  std::map<std::string, std::set<uint64_t>> seeds;
  for (const Intervention& each : interventions)
    if (each.needs_donors()) seeds[each.tap.text()].insert(each.seed);
  int64_t most = 0;
  for (const auto& [tap, some] : seeds) most = std::max(most, std::ssize(some));
  return most;
}

}  // namespace

void check_calibration_of(std::vector<PreparedText>& texts, const AblationRequest& request,
                          std::span<const Intervention> interventions) {
  const int64_t draws = most_draws(interventions);
  const bool has_means = std::ranges::any_of(interventions, &Intervention::needs_means);
  for (size_t i = 0; i < texts.size(); ++i) {
    PreparedText& text = texts[i];
    const std::string& name = request.texts[i].name;
    const ChunkedText& calibration = text.calibration;
    if (draws > 0 && request.calibration)
      check_long_enough(calibration, cut_of(text.text), calibration_file(*request.calibration));
    if (const int64_t donors = std::min(calibration.chunks(), CalibrationRequest{}.donors); donors < draws)
      text.warnings.push_back(
          fmt::format("{}: a shuffle is drawn {} times among {} sequence{} of calibration text: some draws "
                      "are the same",
                      name, draws, donors, donors == 1 ? "" : "s"));
    const int64_t tokens = calibration.chunks() * (calibration.chunk_length - 1);
    if (has_means && tokens < kFewTokensOfMeans)
      text.warnings.push_back(
          fmt::format("{}: means are over {} tokens of calibration text, and rough", name, tokens));
  }
}

void tell_warnings(std::span<const PreparedText> texts, std::set<std::string>& told,
                   const JobControl& control) {
  for (const PreparedText& text : texts)
    for (const std::string& warning : text.warnings)
      if (told.insert(warning).second) control.warn("{}", warning);
}

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
