#include <fmt/ranges.h>

#include <ostream>

#include "sluice/cli/commands.h"
#include "sluice/cli/json_lines.h"
#include "sluice/cli/overwriting.h"
#include "sluice/cli/tokenizer_options.h"
#include "sluice/cli/use_case.h"
#include "sluice/data/text_reader.h"
#include "sluice/data/tokenizer_training.h"
#include "sluice/text/token_ids.h"
#include "sluice/text/utf8.h"

namespace sluice::cli {
namespace {

using nlohmann::ordered_json;

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
      for (const Json& id : line.at("ids").array())
        ids.push_back(static_cast<TokenId>(id.integer({.min = 0, .max = tokenizer.size() - 1})));
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

void train(const TokenizerOptions& options, const Session& session) {
  refuse_overwriting(*options.out, options.files);
  const TokenizerTraining training{
      .files = options.files,
      .format = options.format.format(),
      .out = *options.out,
      .vocabulary = options.vocabulary,
      .pattern = options.pattern == "gpt2" ? WordPattern::Gpt2 : WordPattern::Qwen,
      .special = options.special,
      .end_of_text = !options.no_end_of_text};
  print_result(session, train_tokenizer(training, Threads(session.options.threads), job_control(session)));
}

void run(const TokenizerOptions& options, const Session& session) {
  check(options);
  if (options.action == "encode") return encode(options, session);
  if (options.action == "decode") return decode(options, session);
  train(options, session);
}

}  // namespace

Command tokenizer_command() {
  return {
      .name = "tokenizer",
      .summary = "Encode and decode text, train a tokenizer",
      .description =
          "Turns text into the tokens of a byte-level BPE tokenizer and back, or trains such a tokenizer. "
          "Special tokens in a text are recognised, none are added. A model directory stands for the "
          "tokenizer.json in it, the word bytes for a tokenizer of the 256 bytes.",
      .examples = {"sluice tokenizer encode tokenizer.json --text \"Hello\"",
                   "sluice tokenizer encode path/to/model --jsonl texts.jsonl",
                   "sluice tokenizer decode tokenizer.json --ids 9707,11",
                   "sluice tokenizer train a.txt b.jsonl --vocab-size 8192 --out t.json"},
      .declare = [](Options& options) -> Action {
        auto target = std::make_shared<TokenizerOptions>();
        declare(options, *target);
        return [target](const Session& session) { run(*target, session); };
      }};
}

}  // namespace sluice::cli
