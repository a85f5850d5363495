#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ostream>

#include "sluice/cli/commands.h"
#include "sluice/cli/json_lines.h"
#include "sluice/cli/tokenizer.h"
#include "sluice/data/text_reader.h"
#include "sluice/text/token_ids.h"
#include "sluice/text/utf8.h"

namespace sluice::cli {
namespace {

using nlohmann::ordered_json;

Error wrong_use(std::string what) {
  return usage_error({.where = "tokenizer", .what = std::move(what), .hint = "see sluice help tokenizer"});
}

void check_use(const TokenizerOptions& options) {
  const auto belongs = [&](const char* name, bool given, const char* action) {
    if (given && options.action != action) throw wrong_use(fmt::format("{} is for {}", name, action));
  };
  belongs("--text", options.text.has_value(), "encode");
  belongs("--ids", options.ids.has_value(), "decode");
  belongs("--skip-special", options.skip_special, "decode");
  belongs("--vocab-size", options.vocabulary != 0, "train");
  belongs("--out", options.out.has_value(), "train");
  belongs("--format", !options.format.word.empty(), "train");
  belongs("--special", !options.special.empty(), "train");
  if (options.action == "train") {
    if (options.jsonl) throw wrong_use("--jsonl is for encode and decode; train has --format jsonl");
    if (options.vocabulary == 0 || !options.out) throw wrong_use("train needs --vocab-size and --out");
  } else if (options.files.size() != 1) {
    throw wrong_use(fmt::format("{} takes one tokenizer, got {}", options.action, options.files.size()));
  } else if (options.jsonl && (options.text || options.ids)) {
    throw wrong_use("--jsonl and --text or --ids exclude each other");
  }
}

void encode(const TokenizerOptions& options, const Session& session) {
  const Tokenizer tokenizer = Tokenizer::named(options.files.front());
  if (options.jsonl) {
    const auto turn = [&](const Json& line) {
      return ordered_json{{"ids", tokenizer.encode(line.text("text"))}};
    };
    return print_lines(session, map_lines(*options.jsonl, Threads(session.options.threads), turn));
  }
  const std::vector<TokenId> ids = tokenizer.encode(options.text ? *options.text : read_input("-"));
  if (session.options.json) {
    session.out << ordered_json{{"ids", ids}}.dump() << '\n';
  } else {
    session.out << fmt::format("{}\n", fmt::join(ids, " "));
  }
}

void decode(const TokenizerOptions& options, const Session& session) {
  const Tokenizer tokenizer = Tokenizer::named(options.files.front());
  if (options.jsonl) {
    const auto turn = [&](const Json& line) {
      std::vector<TokenId> ids;
      for (const Json& id : line.at("ids").array()) {
        ids.push_back(static_cast<TokenId>(id.integer({.min = 0, .max = tokenizer.size() - 1})));
      }
      return ordered_json{
          {"text", with_ill_formed_replaced(tokenizer.decode(ids, options.special_tokens()))}};
    };
    return print_lines(session, map_lines(*options.jsonl, Threads(session.options.threads), turn));
  }
  const auto ids = options.ids
                       ? parse_ids(*options.ids, tokenizer.size(), "--ids", ErrorKind::Usage)
                       : parse_ids(read_input("-"), tokenizer.size(), "standard input", ErrorKind::BadInput);
  const std::string text = tokenizer.decode(ids, options.special_tokens());
  if (session.options.json) {
    session.out << ordered_json{{"text", with_ill_formed_replaced(text)}}.dump() << '\n';
  } else {
    session.out << text << '\n';
  }
}

void declare_input(Options& options, TokenizerOptions& target) {
  options.argument({.name = "ACTION",
                    .value = "",
                    .text = "encode, decode or train",
                    .words = {"encode", "decode", "train"}},
                   Presence::Required, target.action);
  options.arguments(
      {.name = "FILE...",
       .value = "",
       .text = "encode, decode: a tokenizer.json, a model directory or bytes. train: texts (.jsonl: the "
               "text of each line; -: standard input)"},
      Presence::Required, target.files);
  options.text(
      {.name = "--jsonl",
       .value = "F",
       .text = "Take {\"text\": ...} or {\"ids\": [...]} from each line of this file; - is standard input"},
      target.jsonl);
  options.text({.name = "--text", .value = "T", .text = "Text to encode (default: standard input)"},
               target.text);
  options.text(
      {.name = "--ids", .value = "LIST", .text = "Ids to decode, as in 1,2,3 (default: standard input)"},
      target.ids);
  options.flag("--skip-special", target.skip_special, "Leave special tokens out of the decoded text");
}

Action declare_tokenizer(Options& options) {
  constexpr long kMaxVocabulary = 1 << 24;
  auto target = std::make_shared<TokenizerOptions>();
  declare_input(options, *target);
  options.integer({.name = "--vocab-size",
                   .value = "N",
                   .text = "Tokens to train, the 256 bytes and the special ones included",
                   .low = 256,
                   .high = kMaxVocabulary},
                  target->vocabulary);
  options.text({.name = "--out", .value = "F", .text = "Where the trained tokenizer.json goes"}, target->out);
  target->format.declare(options, "train");
  options.choice({.name = "--pattern",
                  .value = "NAME",
                  .text = "How training cuts text into words: qwen or gpt2 (default: qwen)",
                  .words = {"qwen", "gpt2"}},
                 target->pattern);
  options.repeated({.name = "--special", .value = "T", .text = "A special token; may be given several times"},
                   target->special);
  return [target](const Session& session) {
    check_use(*target);
    if (target->action == "encode") return encode(*target, session);
    if (target->action == "decode") return decode(*target, session);
    train_tokenizer(*target, session);
  };
}

}  // namespace

Command tokenizer_command() {
  return {
      .name = "tokenizer",
      .summary = "Encode and decode text, train a tokenizer",
      .description =
          "Turns text into the tokens of a byte-level BPE tokenizer and back, or trains such a tokenizer. "
          "Special tokens in a text are recognised, none are added. \"bytes\" is the tokenizer whose tokens "
          "are "
          "the 256 bytes.",
      .examples = {"sluice tokenizer encode tokenizer.json --text \"Hello\"",
                   "sluice tokenizer encode path/to/model --jsonl texts.jsonl",
                   "sluice tokenizer decode tokenizer.json --ids 9707,11",
                   "sluice tokenizer train a.txt b.jsonl --vocab-size 8192 --out t.json"},
      .declare = declare_tokenizer};
}

}  // namespace sluice::cli
