#include "sluice/cli/data.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <ostream>

#include "sluice/base/error.h"
#include "sluice/cli/commands.h"
#include "sluice/data/synth.h"
#include "sluice/text/utf8.h"

namespace sluice::cli {
namespace {

using nlohmann::ordered_json;

Error wrong_use(std::string what) {
  return usage_error({.where = "data", .what = std::move(what), .hint = "see sluice help data"});
}

void check_use(const DataOptions& options) {
  const auto belongs = [&](const char* name, bool given, const char* action) {
    if (given && options.action != action) throw wrong_use(fmt::format("{} is for {}", name, action));
  };
  belongs("--kind", !options.kinds.empty(), "synth");
  belongs("--bytes", options.bytes.has_value(), "synth");
  belongs("--documents", options.documents.has_value(), "synth");
  belongs("--seed", options.seed.has_value(), "synth");
  belongs("--format", !options.format.word.empty(), "tokenize");
  belongs("--end-of-text", options.end_of_text.has_value(), "tokenize");
  if (options.bytes && options.documents) throw wrong_use("--bytes and --documents exclude each other");
  if (options.action == "info") {
    if (options.out) throw wrong_use("--out is for synth and tokenize");
    if (options.files.size() != 1)
      throw wrong_use(fmt::format("info takes one token shard, got {}", options.files.size()));
    return;
  }
  if (!options.out) throw wrong_use(fmt::format("{} needs --out", options.action));
  if (options.action == "synth" && !options.files.empty()) throw wrong_use("synth reads no files");
  if (options.action == "tokenize" && options.files.size() < 2)
    throw wrong_use("tokenize needs a tokenizer or model, and at least one text");
}

void print_info(const DataOptions& options, const Session& session) {
  const TokenShard shard{std::filesystem::path(options.files.front())};
  shard.verify();
  int64_t shortest = shard.info().tokens, longest = 0;
  for (int64_t i = 0; i < shard.info().documents; ++i) {
    const int64_t size = shard.document(i).size();
    shortest = std::min(shortest, size);
    longest = std::max(longest, size);
  }
  ordered_json json = shard_json(shard.name(), shard.info());
  json["shortest_document"] = shortest;
  json["longest_document"] = longest;
  if (session.options.json) {
    session.out << json.dump(2) << '\n';
    return;
  }
  const TokenShardInfo& info = shard.info();
  session.out << fmt::format("tokens          {} of {} bytes each\n", info.tokens, info.width)
              << fmt::format("documents       {}, of {} to {} tokens\n", info.documents, shortest, longest)
              << fmt::format("vocabulary      {}; documents end with {}\n", info.vocabulary, info.end_of_text)
              << fmt::format("text            {} bytes\n", info.text_bytes) << "checksum        right\n";
}

void declare_synth(Options& options, DataOptions& target) {
  std::vector<std::string> kinds;
  for (const TextKind kind : all_text_kinds()) kinds.emplace_back(name_of(kind));
  options.list({.name = "--kind",
                .value = "K...",
                .text = "synth: kinds of text, in turn: story, fact, technical, dialogue, code, repetitive "
                        "(default: all)",
                .words = kinds},
               target.kinds);
  options.integer({.name = "--bytes",
                   .value = "N",
                   .text = "synth: stop at the document that makes it this much text",
                   .low = 1,
                   .high = std::int64_t{1} << 50},
                  target.bytes);
  options.integer({.name = "--documents",
                   .value = "N",
                   .text = "synth: make so many documents (default: 1000)",
                   .low = 1,
                   .high = std::int64_t{1} << 40},
                  target.documents);
  options.integer({.name = "--seed",
                   .value = "N",
                   .text = "synth: another seed, other texts (default: 0)",
                   .low = 0,
                   .high = std::numeric_limits<std::int64_t>::max()},
                  target.seed);
}

Action declare_data(Options& options) {
  auto target = std::make_shared<DataOptions>();
  options.argument({.name = "ACTION",
                    .value = "",
                    .text = "synth, tokenize or info",
                    .words = {"synth", "tokenize", "info"}},
                   Presence::Required, target->action);
  options.arguments(
      {.name = "FILE...",
       .value = "",
       .text = "tokenize: a tokenizer.json, a model directory or bytes, then texts (.txt, .jsonl, .gz "
               "of either, -). info: a token shard. synth: none"},
      Presence::Optional, target->files);
  options.text({.name = "--out",
                .value = "F",
                .text = "synth: the .jsonl or .txt to write. tokenize: the token shard to write"},
               target->out);
  target->format.declare(options, "tokenize");
  declare_synth(options, *target);
  options.text({.name = "--end-of-text",
                .value = "T",
                .text = "tokenize: the token that ends a document, as the tokenizer spells it (default: "
                        "<|endoftext|> or a relative of it, else the byte 0)"},
               target->end_of_text);
  return [target](const Session& session) {
    check_use(*target);
    if (target->action == "synth") return synthesise(*target, session);
    if (target->action == "tokenize") return tokenize(*target, session);
    print_info(*target, session);
  };
}

}  // namespace

ordered_json shard_json(const std::string& path, const TokenShardInfo& info) {
  return {{"path", with_ill_formed_replaced(path)},
          {"tokens", info.tokens},
          {"documents", info.documents},
          {"vocabulary", info.vocabulary},
          {"end_of_text", info.end_of_text},
          {"bytes_per_token", info.width},
          {"text_bytes", info.text_bytes}};
}

Command data_command() {
  return {
      .name = "data",
      .summary = "Make text, turn text into token shards",
      .description =
          "synth makes English-like text without end, for trying things without a corpus: a line "
          "{\"text\", \"kind\"} per document in a .jsonl, or one text in a .txt. tokenize turns texts into a "
          "shard of token ids, which training maps into memory: a .txt is one document, a .jsonl has one per "
          "line, and documents without text are left out. info checks a shard and tells its figures.",
      .examples = {"sluice data synth --out corpus.jsonl --bytes 10000000 --seed 1",
                   "sluice data synth --out code.txt --kind code --documents 50",
                   "sluice data tokenize tokenizer.json corpus.jsonl --out corpus.tokens",
                   "zstdcat corpus.zst | sluice data tokenize tokenizer.json - --format jsonl --out c.tokens",
                   "sluice data info corpus.tokens --json"},
      .declare = declare_data};
}

}  // namespace sluice::cli
