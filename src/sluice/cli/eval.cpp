#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
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
  std::string model, ids_file;
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

void run(const Request& request, const Session& session) {
  RunnableModel model = open_model(session, request.model);
  const std::vector<int32_t> tokens = tokens_of(request, model);
  const auto chunks = chunks_of(request, tokens);
  if (chunks.size() > 1) model.keep_weights_packed();
  // Of token ids nobody knows the text, and the end of a document has none.
  const bool has_text = request.ids_file.empty() && std::ranges::none_of(request.data, is_token_shard);
  const auto intervener = request.interventions.intervener(model);
  std::vector<ChunkNll> results;
  size_t bytes = 0;
  Progress progress(session.log, "chunks", static_cast<int64_t>(chunks.size()));
  for (const auto& chunk : chunks) {
    throw_if_interrupted();
    results.push_back(chunk_nll(model.context(intervener.get()), *model.decoder, chunk));
    if (has_text) bytes += model.tokenizer.decode(chunk.subspan(1)).size();
    progress.done(1);
  }
  if (intervener) intervener->check_effect();
  const Perplexity result = perplexity(results);
  if (!std::isfinite(result.nll))
    throw failure({.where = "eval", .what = "the likelihood of the text is not finite"});
  const double bits = result.nll * static_cast<double>(result.tokens) / std::numbers::ln2;
  const double bits_per_byte = bytes == 0 ? NAN : bits / static_cast<double>(bytes);
  if (session.options.json) {
    nlohmann::ordered_json json = {{"tokens", result.tokens},
                                   {"chunks", chunks.size()},
                                   {"chunk", chunks[0].size()},
                                   {"nll", result.nll},
                                   {"ppl", result.ppl},
                                   {"bits_per_byte", nullptr},
                                   {"ci95", {result.ci95.low, result.ci95.high}}};
    if (bytes != 0) json["bits_per_byte"] = bits_per_byte;
    session.out << json.dump(2) << '\n';
    return;
  }
  session.out << fmt::format(
                     "perplexity      {:.4f}  (95 % interval {:.4f} to {:.4f}, bootstrap over chunks)\n",
                     result.ppl, result.ci95.low, result.ci95.high)
              << fmt::format("nll             {:.6f} per token\n", result.nll);
  if (bytes != 0) session.out << fmt::format("bits per byte   {:.4f}\n", bits_per_byte);
  session.out << fmt::format("n               {} predicted tokens, {} chunks of {}\n", result.tokens,
                             chunks.size(), chunks[0].size());
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
  return [request](const Session& session) { run(*request, session); };
}

}  // namespace

Command eval_command() {
  return {.name = "eval",
          .summary = "Measure a model's perplexity on text",
          .description =
              "Perplexity over non-overlapping chunks: the exponential of the mean negative log-likelihood "
              "of every token but the first of its chunk. The interval is a bootstrap over chunks.",
          .examples = {"sluice eval path/to/model --data wiki.txt",
                       "sluice eval path/to/model --ids-file ids.txt --json"},
          .declare = declare_eval};
}

}  // namespace sluice::cli
