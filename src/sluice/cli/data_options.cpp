#include "sluice/cli/data_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "sluice/cli/action_options.h"
#include "sluice/data/tokenize.h"

namespace sluice::cli {
namespace {

void declare_synth(Options& options, DataOptions& target) {
  std::vector<std::string> kinds;
  for (const TextKind kind : all_text_kinds()) kinds.emplace_back(name_of(kind));
  kinds.emplace_back("backcopy");
  options.list(
      {.name = "--kind",
       .value = "K...",
       .text = "synth: kinds of text, taken in turn: story, fact, technical, dialogue, code, repetitive "
               "(default: all); or backcopy alone: chains of letters that grow attention sinks",
       .words = kinds},
      target.kinds);
  options.integer(
      {.name = "--letters",
       .value = "N",
       .text = "synth: letters of a backcopy document (default: as many as give 128 tokens, start and end "
               "counted)",
       .low = 1,
       .high = 1 << 20},
      target.letters);
  target.start.declare(options, "synth: what a backcopy document begins with");
  options.integer({.name = "--bytes",
                   .value = "N",
                   .text = "synth: stop after the document that reaches so many bytes of text",
                   .low = 1,
                   .high = std::int64_t{1} << 50},
                  target.bytes);
  options.integer({.name = "--documents",
                   .value = "N",
                   .text = "synth: write so many documents (default: 1000)",
                   .low = 1,
                   .high = std::int64_t{1} << 40},
                  target.documents);
  options.integer({.name = "--seed",
                   .value = "N",
                   .text = "synth: seed of the texts (default: 0)",
                   .low = 0,
                   .high = std::numeric_limits<std::int64_t>::max()},
                  target.seed);
}

}  // namespace

std::vector<TextKind> DataOptions::text_kinds() const {
  std::vector<TextKind> chosen;
  for (const TextKind kind : all_text_kinds())
    if (std::ranges::count(kinds, name_of(kind)) > 0) chosen.push_back(kind);
  return chosen;
}

void declare(Options& options, DataOptions& target) {
  options.argument({.name = "ACTION",
                    .value = "",
                    .text = "synth, tokenize or info",
                    .words = {"synth", "tokenize", "info"}},
                   Presence::Required, target.action);
  options.arguments(
      {.name = "FILE...",
       .value = "",
       .text = "tokenize: a tokenizer.json or model directory, then texts (.txt, .jsonl, packed or "
               "not, -). info: a token shard. synth: none"},
      Presence::Optional, target.files);
  options.text({.name = "--out",
                .value = "F",
                .text = "synth: the .jsonl or .txt to write. tokenize: the token shard to write"},
               target.out);
  target.format.declare(options, "tokenize");
  declare_synth(options, target);
  options.text({.name = "--end-of-text",
                .value = "T",
                .text = "tokenize: the token that ends a document, as the tokenizer spells it (default: "
                        "<|endoftext|> or a similar one, else the byte 0)"},
               target.end_of_text);
  options.integer({.name = "--pieces",
                   .value = "N",
                   .text = "tokenize: join the documents and cut them into pieces of N tokens, the "
                           "end-of-text token first and "
                           "last, so that every training sequence of that length begins with it",
                   .low = kFewestPieceTokens,
                   .high = 1 << 20},
                  target.pieces);
}

void check(const DataOptions& options) {
  check_action("data", options.action,
               {{"--kind", !options.kinds.empty(), "synth"},
                {"--bytes", options.bytes.has_value(), "synth"},
                {"--documents", options.documents.has_value(), "synth"},
                {"--seed", options.seed.has_value(), "synth"},
                {"--letters", options.letters.has_value(), "synth"},
                {"--start", options.start.is_given(), "synth"},
                {"--format", !options.format.word.empty(), "tokenize"},
                {"--end-of-text", options.end_of_text.has_value(), "tokenize"},
                {"--pieces", options.pieces.has_value(), "tokenize"}});
  if (options.bytes && options.documents)
    throw wrong_use("data", "--bytes and --documents exclude each other");
  if (std::ranges::count(options.kinds, "backcopy") > 0 && !options.is_backcopy())
    throw wrong_use("data", "backcopy is not text and does not go with other kinds");
  if (options.letters && !options.is_backcopy()) throw wrong_use("data", "--letters is for --kind backcopy");
  if (options.start.is_given() && !options.is_backcopy())
    throw wrong_use("data", "--start is for --kind backcopy");
  if (options.action == "info") {
    if (options.out) throw wrong_use("data", "--out is for synth and tokenize");
    if (options.files.size() != 1)
      throw wrong_use("data", fmt::format("info takes one token shard, got {}", options.files.size()));
    return;
  }
  if (!options.out) throw wrong_use("data", fmt::format("{} needs --out", options.action));
  if (options.action == "synth" && !options.files.empty()) throw wrong_use("data", "synth reads no files");
  if (options.action == "tokenize" && options.files.size() < 2)
    throw wrong_use("data", "tokenize needs a tokenizer or model, and at least one text");
}

}  // namespace sluice::cli
