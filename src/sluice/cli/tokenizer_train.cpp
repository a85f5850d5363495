#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "sluice/base/atomic_file.h"
#include "sluice/cli/overwriting.h"
#include "sluice/cli/tokenizer.h"
#include "sluice/data/text_reader.h"
#include "sluice/text/tokenizer_writer.h"
#include "sluice/text/utf8.h"

namespace sluice::cli {
namespace {

void check_training(const TokenizerOptions& options) {
  const auto least = 256 + options.special.size();
  if (static_cast<std::size_t>(options.vocabulary) < least) {
    throw usage_error({.where = "--vocab-size",
                       .expected = fmt::format("at least {}: 256 bytes and the special tokens", least),
                       .got = std::to_string(options.vocabulary)});
  }
  for (const std::string& token : options.special) {
    if (token.empty() || well_formed_length(token) != token.size()) {
      throw usage_error({.where = "--special", .expected = "text in UTF-8"});
    }
    if (std::ranges::count(options.special, token) > 1) {
      throw usage_error({.where = "--special", .what = fmt::format("\"{}\" is there twice", token)});
    }
  }
}

}  // namespace

void train_tokenizer(const TokenizerOptions& options, const Session& session) {
  check_training(options);
  refuse_overwriting(*options.out, options.files);
  const Threads threads(session.options.threads);
  const WordPattern pattern = options.pattern == "gpt2" ? WordPattern::Gpt2 : WordPattern::Qwen;
  WordCounter counter({.pattern = pattern, .special = options.special}, threads);
  for (const std::string& file : options.files) {
    const TextFormat format = options.format.format().value_or(format_named(file));
    if (file.ends_with(".gz")) {
      counter.add(read_input(file), format, file);
    } else {
      counter.add_file(file, format);
    }
  }
  const std::vector<WordCount> words = counter.words();
  if (words.empty()) throw bad_input({.where = input_name(options.files.back()), .what = "no text in it"});
  const auto learnt = options.vocabulary - static_cast<std::int64_t>(options.special.size());
  const TrainedBpe trained = train_bpe(words, {.tokens = learnt}, threads);
  write_file_atomically(*options.out, tokenizer_json(trained, pattern, options.special));
  const std::size_t size = trained.tokens.size() + options.special.size();
  if (size < static_cast<std::size_t>(options.vocabulary)) {
    session.log.warn("{} tokens instead of {}: no other pair occurs twice", size, options.vocabulary);
  }
  if (session.options.json) {
    const nlohmann::ordered_json result = {{"path", with_ill_formed_replaced(*options.out)},
                                           {"vocab_size", size},
                                           {"merges", trained.merges.size()},
                                           {"words", words.size()}};
    session.out << result.dump() << '\n';
  } else {
    session.out << fmt::format("{}: {} tokens, {} merges, from {} different words\n", *options.out, size,
                               trained.merges.size(), words.size());
  }
}

}  // namespace sluice::cli
