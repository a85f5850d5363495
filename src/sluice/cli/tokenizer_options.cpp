#include "sluice/cli/tokenizer_options.h"

#include <fmt/format.h>

#include "sluice/cli/action_options.h"

namespace sluice::cli {
namespace {

void declare_input(Options& options, TokenizerOptions& target) {
  options.argument({.name = "ACTION",
                    .value = "",
                    .text = "encode, decode or train",
                    .words = {"encode", "decode", "train"}},
                   Presence::Required, target.action);
  options.arguments(
      {.name = "FILE...",
       .value = "",
       .text = "encode, decode: a tokenizer.json or a model directory. train: texts (.jsonl: the "
               "text of each line; -: standard input)"},
      Presence::Required, target.files);
  options.text({.name = "--jsonl",
                .value = "F",
                .text = "encode, decode: a file with {\"text\": ...} or {\"ids\": [...]} on each line; - is "
                        "standard input"},
               target.jsonl);
  options.text({.name = "--text", .value = "T", .text = "encode: the text (default: standard input)"},
               target.text);
  options.text(
      {.name = "--ids", .value = "LIST", .text = "decode: token ids, as in 1,2,3 (default: standard input)"},
      target.ids);
  options.flag("--skip-special", target.skip_special, "decode: leave special tokens out of the text");
}

}  // namespace

void declare(Options& options, TokenizerOptions& target) {
  constexpr long kMaxVocabulary = 1 << 24;
  declare_input(options, target);
  options.integer({.name = "--vocab-size",
                   .value = "N",
                   .text = "train: size of the vocabulary, the 256 bytes and the special tokens included",
                   .low = 256,
                   .high = kMaxVocabulary},
                  target.vocabulary);
  options.text({.name = "--out", .value = "F", .text = "train: the tokenizer.json to write"}, target.out);
  target.format.declare(options, "train");
  options.choice({.name = "--pattern",
                  .value = "NAME",
                  .text = "train: how text is cut into words: qwen or gpt2 (default: qwen)",
                  .words = {"qwen", "gpt2"}},
                 target.pattern);
  options.repeated(
      {.name = "--special", .value = "T", .text = "train: a special token; may be given several times"},
      target.special);
  options.flag("--no-end-of-text", target.no_end_of_text,
               "train: no <|endoftext|>, which is otherwise added: models learn from it where a text ends");
}

void check(const TokenizerOptions& options) {
  check_action("tokenizer", options.action,
               {{"--text", options.text.has_value(), "encode"},
                {"--ids", options.ids.has_value(), "decode"},
                {"--skip-special", options.skip_special, "decode"},
                {"--vocab-size", options.vocabulary != 0, "train"},
                {"--out", options.out.has_value(), "train"},
                {"--format", !options.format.word.empty(), "train"},
                {"--special", !options.special.empty(), "train"},
                {"--no-end-of-text", options.no_end_of_text, "train"}});
  if (options.action == "train") {
    if (options.jsonl)
      throw wrong_use("tokenizer", "--jsonl is for encode and decode; train has --format jsonl");
    if (options.vocabulary == 0 || !options.out)
      throw wrong_use("tokenizer", "train needs --vocab-size and --out");
  } else if (options.files.size() != 1) {
    throw wrong_use("tokenizer",
                    fmt::format("{} takes one tokenizer, got {}", options.action, options.files.size()));
  } else if (options.jsonl && (options.text || options.ids)) {
    throw wrong_use("tokenizer", "--jsonl and --text or --ids exclude each other");
  }
}

}  // namespace sluice::cli
