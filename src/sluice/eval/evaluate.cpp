#include "sluice/eval/evaluate.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "sluice/base/error.h"
#include "sluice/eval/calibration_text.h"
#include "sluice/eval/chunk_pass.h"

namespace sluice {
namespace {

using nlohmann::ordered_json;

std::optional<double> bits_per_byte(const Perplexity& result, const ChunkedText& text) {
  if (text.predicted_bytes.value_or(0) == 0) return {};
  const double bits = result.nll * static_cast<double>(result.tokens) / std::numbers::ln2;
  return bits / static_cast<double>(*text.predicted_bytes);
}

}  // namespace

Perplexity finite_perplexity(const LoadedModel& model, std::span<const ChunkNll> chunks) {
  Perplexity result = perplexity(chunks);
  if (std::isfinite(result.ppl)) return result;
  throw InfinitePerplexity(failure({.where = model.path().string(),
                                    .what = "the perplexity of the text is beyond all numbers",
                                    .got = fmt::format("{:.3g} nats per token", result.nll)}));
}

Evaluation evaluate(const LoadedModel& model, const EvaluationRequest& request, const JobControl& control) {
  const ChunkedText& text = request.text;
  // Without an intervention no probe: then values that are only there to be seen are not computed.
  std::optional<Intervener> intervener;
  if (!request.interventions.empty()) intervener.emplace(request.interventions);
  Evaluation evaluation{.dtype = model.dtype(),
                        .perplexity = {},
                        .chunk_length = text.chunk_length,
                        .stride = text.stride,
                        .begin_of_text = text.begin_of_text,
                        .chunks = {}};
  const auto begin = [&](int64_t chunk) {
    if (intervener) intervener->begin_at(chunk);
  };
  for_each_chunk(
      model, {.text = text, .probe = intervener ? &*intervener : nullptr, .begin = begin, .control = control},
      [&](const ChunkPass& pass) { evaluation.chunks.push_back(pass.nll); });
  if (intervener) intervener->check_effect();
  evaluation.perplexity = finite_perplexity(model, evaluation.chunks);
  evaluation.bits_per_byte = bits_per_byte(evaluation.perplexity, text);
  return evaluation;
}

Evaluation compared(Evaluation evaluation, const Evaluation& base) {
  evaluation.against = Comparison{.dtype = base.dtype,
                                  .base = base.perplexity,
                                  .difference = perplexity_difference(evaluation.chunks, base.chunks)};
  return evaluation;
}

Evaluation evaluate_model(Engine& engine, const ModelEvaluationRequest& request, const JobControl& control) {
  if (request.against == request.options.dtype) {
    throw usage_error(
        {.where = "eval",
         .what = fmt::format("--against {} is what is evaluated already", weight_type_name(*request.against)),
         .hint = "--dtype says what is compared with it"});
  }
  EvaluationRequest chunked;
  const auto evaluated = [&](DType dtype, const JobControl& job) {
    ModelOptions options = request.options;
    options.dtype = dtype;
    const LoadedModel model(engine, request.model, options, job);
    if (chunked.text.tokens.empty())
      chunked.text = read_chunks(model, request.source, request.chunks, control);
    const CalibrationText calibration{
        .files = request.calibration,
        .cut = {.tokens = chunked.text.chunk_length - 1, .begin_of_text = chunked.text.begin_of_text}};
    chunked.interventions = calibrated_interventions(model, request.interventions, calibration, job);
    return evaluate(model, chunked, job);
  };
  Evaluation evaluation = evaluated(request.options.dtype, control);
  if (!request.against) return evaluation;
  JobControl without_log = control;  // the text is the same: what there is to say of it has been said
  without_log.log = nullptr;
  return compared(std::move(evaluation), evaluated(*request.against, without_log));
}

ordered_json to_json(const Evaluation& evaluation) {
  const Perplexity& result = evaluation.perplexity;
  ordered_json json = {{"dtype", weight_type_name(evaluation.dtype)},
                       {"tokens", result.tokens},
                       {"chunks", evaluation.chunks.size()},
                       {"chunk", evaluation.chunk_length},
                       {"stride", evaluation.stride},
                       {"bos", name_of(evaluation.begin_of_text)},
                       {"nll", result.nll},
                       {"ppl", result.ppl},
                       {"bits_per_byte", nullptr},
                       {"ci95", to_json(result.ci95)}};
  if (evaluation.bits_per_byte) json["bits_per_byte"] = *evaluation.bits_per_byte;
  if (!evaluation.against) return json;
  const auto& [dtype, base, difference] = *evaluation.against;
  json["against"] = {
      {"dtype", weight_type_name(dtype)}, {"nll", base.nll}, {"ppl", base.ppl}, {"ci95", to_json(base.ci95)}};
  json["difference"] = {{"nll", difference.nll}, {"ppl", difference.ppl}, {"ci95", to_json(difference.ci95)}};
  return json;
}

}  // namespace sluice
