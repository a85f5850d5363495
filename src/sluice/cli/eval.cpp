#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <optional>
#include <ostream>

#include "sluice/base/interrupt.h"
#include "sluice/cli/commands.h"
#include "sluice/cli/model_input.h"
#include "sluice/cli/progress.h"
#include "sluice/cli/token_ids.h"
#include "sluice/data/text_reader.h"
#include "sluice/data/token_shard.h"
#include "sluice/eval/perplexity.h"

namespace sluice::cli {
namespace {

struct Request {
  std::string model, ids_file, against;
  std::vector<std::string> data;
  InterventionOptions interventions;
  int chunk = 512, chunks = 50;
};

// Of shards only what the chunks need is read: they may be larger than memory.
std::vector<int32_t> tokens_of_shards(const Request& request, const RunnableModel& model) {
  int64_t left = int64_t{request.chunk} * request.chunks;
  std::vector<int32_t> tokens;
  for (const std::string& path : request.data) {
    if (!is_token_shard(path)) {
      throw bad_input({.where = input_name(path), .expected = "a token shard like the others"});
    }
    const TokenShard shard(path);
    if (shard.info().vocabulary > model.decoder->config().vocabulary) {
      throw bad_input(
          {.where = path,
           .what = "its tokens do not fit the model",
           .expected = fmt::format("a vocabulary of at most {}", model.decoder->config().vocabulary),
           .got = std::to_string(shard.info().vocabulary)});
    }
    std::vector<int32_t> some(static_cast<size_t>(std::min(left, shard.info().tokens)));
    shard.read(0, some);
    tokens.insert(tokens.end(), some.begin(), some.end());
    left -= std::ssize(some);
  }
  return tokens;
}

std::vector<int32_t> tokens_of(const Request& request, const RunnableModel& model) {
  if (request.ids_file.empty() == request.data.empty()) {
    throw usage_error({.where = "eval", .what = "give either --data or --ids-file"});
  }
  if (!request.ids_file.empty()) {
    return parse_ids(read_input(request.ids_file), model.decoder->config().vocabulary, request.ids_file,
                     ErrorKind::BadInput);
  }
  if (std::ranges::any_of(request.data, is_token_shard)) return tokens_of_shards(request, model);
  std::string text;
  for (const std::string& path : request.data) {
    // Documents of a .jsonl file are lines of one text.
    const char* end = format_named(path) == TextFormat::JsonLines ? "\n" : "";
    for_each_document(path, [&](std::string_view document) { text.append(document).append(end); });
  }
  return model.encode(text);
}

// Whole chunks, or the one that the tokens make if they are fewer than that.
std::vector<std::span<const int32_t>> chunks_of(const Request& request, std::span<const int32_t> tokens) {
  const auto size = static_cast<size_t>(request.chunk);
  if (tokens.size() < 2) {
    throw bad_input({.where = "eval",
                     .what = "nothing to predict",
                     .expected = "at least 2 tokens",
                     .got = std::to_string(tokens.size())});
  }
  if (tokens.size() < size) return {tokens};
  std::vector<std::span<const int32_t>> chunks;
  for (size_t at = 0; at + size <= tokens.size() && chunks.size() < static_cast<size_t>(request.chunks);
       at += size) {
    chunks.push_back(tokens.subspan(at, size));
  }
  return chunks;
}

std::string dtype_of(const Session& session) {
  return session.options.dtype.empty() ? "f32" : session.options.dtype;
}

// Before anything is read: the second model may take minutes to come to.
void check_against(const Request& request, const Session& session) {
  const std::string dtype = dtype_of(session);
  if (request.against != dtype) return;
  throw usage_error({.where = "eval",
                     .what = fmt::format("--against {} is what is evaluated already", dtype),
                     .hint = "--dtype says what is compared with it"});
}

struct Text {
  std::vector<int32_t> tokens;
  std::vector<std::span<const int32_t>> chunks;
  size_t bytes = 0;  // that are predicted; 0 if nobody knows
};

Text text_of(const Request& request, const RunnableModel& model) {
  Text text{.tokens = tokens_of(request, model), .chunks = {}};
  text.chunks = chunks_of(request, text.tokens);
  // Of token ids nobody knows the text, and the end of a document has none.
  const bool known = request.ids_file.empty() && std::ranges::none_of(request.data, is_token_shard);
  for (const auto& chunk : text.chunks) {
    if (known) text.bytes += model.tokenizer.decode(chunk.subspan(1)).size();
  }
  return text;
}

std::vector<ChunkNll> evaluate(const Request& request, const Session& session, RunnableModel& model,
                               const Text& text) {
  if (text.chunks.size() > 1) model.keep_weights_packed();
  const auto intervener = request.interventions.intervener(model);
  std::vector<ChunkNll> results;
  Progress progress(session.log, "chunks", static_cast<int64_t>(text.chunks.size()));
  for (const auto& chunk : text.chunks) {
    throw_if_interrupted();
    results.push_back(chunk_nll(model.context(intervener.get()), *model.decoder, chunk));
    progress.done(1);
  }
  if (intervener) intervener->check_effect();
  return results;
}

Perplexity finite_perplexity(std::span<const ChunkNll> results) {
  const Perplexity result = perplexity(results);
  if (!std::isfinite(result.nll))
    throw failure({.where = "eval", .what = "the likelihood of the text is not finite"});
  return result;
}

struct Comparison {
  std::string dtype;
  Perplexity base;
  PerplexityDifference difference;
};

struct Evaluation {
  std::string dtype;
  Perplexity result;
  size_t chunks = 0, chunk = 0;
  std::optional<double> bits_per_byte;
  std::optional<Comparison> against;
};

double bits_per_byte(const Perplexity& result, size_t bytes) {
  return result.nll * static_cast<double>(result.tokens) / std::numbers::ln2 / static_cast<double>(bytes);
}

nlohmann::ordered_json pair_of(const Interval& interval) {
  return {interval.low, interval.high};
}

nlohmann::ordered_json as_json(const Evaluation& evaluation) {
  const Perplexity& result = evaluation.result;
  nlohmann::ordered_json json = {{"dtype", evaluation.dtype},   {"tokens", result.tokens},
                                 {"chunks", evaluation.chunks}, {"chunk", evaluation.chunk},
                                 {"nll", result.nll},           {"ppl", result.ppl},
                                 {"bits_per_byte", nullptr},    {"ci95", pair_of(result.ci95)}};
  if (evaluation.bits_per_byte) json["bits_per_byte"] = *evaluation.bits_per_byte;
  if (!evaluation.against) return json;
  const auto& [dtype, base, difference] = *evaluation.against;
  json["against"] = {{"dtype", dtype}, {"nll", base.nll}, {"ppl", base.ppl}, {"ci95", pair_of(base.ci95)}};
  json["difference"] = {{"nll", difference.nll}, {"ppl", difference.ppl}, {"ci95", pair_of(difference.ci95)}};
  return json;
}

std::string as_text(const Evaluation& evaluation) {
  const Perplexity& result = evaluation.result;
  const bool several = evaluation.chunks > 1;
  const auto interval = [&](const std::string& told) {
    return several ? fmt::format("95 % interval {}", told) : std::string("one chunk: no interval");
  };
  const auto plain = [&](const Interval& ci95) {
    return interval(fmt::format("{:.4f} to {:.4f}, bootstrap over chunks", ci95.low, ci95.high));
  };
  std::string text = fmt::format("perplexity      {:.4f}  ({})\n", result.ppl, plain(result.ci95));
  if (evaluation.against) {
    const auto& [dtype, base, difference] = *evaluation.against;
    const auto& [low, high] = difference.ci95;
    text += fmt::format("{:<16}{:.4f}  ({})\n", fmt::format("with {}", dtype), base.ppl, plain(base.ci95));
    text += fmt::format("difference      {:+.4f}  ({})\n", difference.ppl,
                        interval(fmt::format("{:+.4f} to {:+.4f}, the same chunks in both", low, high)));
  }
  text += fmt::format("weights         {}\n", evaluation.dtype);
  text += fmt::format("nll             {:.6f} per token\n", result.nll);
  if (evaluation.bits_per_byte) text += fmt::format("bits per byte   {:.4f}\n", *evaluation.bits_per_byte);
  text += fmt::format("n               {} predicted tokens, {} chunk{} of {}\n", result.tokens,
                      evaluation.chunks, several ? "s" : "", evaluation.chunk);
  return text;
}

void run(const Request& request, const Session& session) {
  check_against(request, session);
  std::optional<RunnableModel> model = open_model(session, request.model);
  const Text text = text_of(request, *model);
  const std::vector<ChunkNll> results = evaluate(request, session, *model, text);
  Evaluation evaluation{.dtype = dtype_of(session),
                        .result = finite_perplexity(results),
                        .chunks = text.chunks.size(),
                        .chunk = text.chunks[0].size(),
                        .bits_per_byte = {},
                        .against = {}};
  if (text.bytes != 0) evaluation.bits_per_byte = bits_per_byte(evaluation.result, text.bytes);
  if (!request.against.empty()) {
    model.reset();  // never both in memory
    model = open_model(session, request.model, request.against);
    const std::vector<ChunkNll> base = evaluate(request, session, *model, text);
    evaluation.against = {request.against, finite_perplexity(base), perplexity_difference(results, base)};
  }
  session.out << (session.options.json ? as_json(evaluation).dump(2) + '\n' : as_text(evaluation));
}

Action declare_eval(Options& options) {
  auto request = std::make_shared<Request>();
  options.argument({.name = "MODEL", .value = "", .text = "A model directory"}, Presence::Required,
                   request->model);
  options.list({.name = "--data",
                .value = "FILE...",
                .text = "Text: .txt, .jsonl with a text field, .gz of either, - for stdin; or token shards"},
               request->data);
  options.text(
      {.name = "--ids-file", .value = "FILE", .text = "Token ids, separated by white space, instead of text"},
      request->ids_file);
  request->interventions.declare(options);
  options.integer(
      {.name = "--chunk", .value = "N", .text = "Tokens per chunk (default: 512)", .low = 2, .high = 1 << 20},
      request->chunk);
  options.integer(
      {.name = "--chunks", .value = "N", .text = "Chunks at most (default: 50)", .low = 1, .high = 1 << 24},
      request->chunks);
  options.choice({.name = "--against",
                  .value = "TYPE",
                  .text = "Evaluate the same chunks with weights of this type, too, and say what differs",
                  .words = model_dtype().words},
                 request->against);
  return [request](const Session& session) { run(*request, session); };
}

}  // namespace

Command eval_command() {
  return {.name = "eval",
          .summary = "Measure a model's perplexity on text",
          .description =
              "Perplexity over non-overlapping chunks: the exponential of the mean negative log-likelihood "
              "of every token but the first of its chunk. The interval is a bootstrap over chunks. With "
              "--against "
              "also the perplexity in another type, and the difference with an interval for the same chunks.",
          .examples = {"sluice eval path/to/model --data wiki.txt",
                       "sluice eval path/to/model --ids-file ids.txt --json",
                       "sluice eval path/to/model --data wiki.txt --dtype int8 --against bf16"},
          .dtype = model_dtype(),
          .declare = declare_eval};
}

}  // namespace sluice::cli
