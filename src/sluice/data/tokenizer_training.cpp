#include "sluice/data/tokenizer_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sluice/base/assert.h"
#include "sluice/base/atomic_file.h"
#include "sluice/base/log.h"
#include "sluice/data/text_reader.h"
#include "sluice/data/tokenize.h"
#include "sluice/text/bpe_trainer.h"
#include "sluice/text/tokenizer_writer.h"
#include "sluice/text/utf8.h"

namespace sluice {
namespace {

void check(const TokenizerTraining& training) {
  SLUICE_ASSERT(!training.files.empty(), "train_tokenizer: no files");
  const int64_t least = 256 + std::ssize(training.special);
  if (training.vocabulary < least) {
    throw usage_error({.where = "vocabulary size",
                       .expected = fmt::format("at least {}: 256 bytes and the special tokens", least),
                       .got = std::to_string(training.vocabulary)});
  }
  for (const std::string& token : training.special) {
    if (token.empty() || well_formed_length(token) != token.size())
      throw usage_error({.where = "special token", .expected = "text in UTF-8"});
    if (std::ranges::count(training.special, token) > 1)
      throw usage_error({.where = "special token", .what = fmt::format("\"{}\" is there twice", token)});
  }
}

std::vector<WordCount> count_words(const TokenizerTraining& training, const Threads& threads,
                                   const JobControl& control) {
  WordCounter counter({.pattern = training.pattern, .special = training.special}, threads);
  for (const std::string& file : training.files) {
    control.stop_if_cancelled();
    const TextInput input(file, training.format);
    counter.add(input.text(), input.format(), input_name(file));
  }
  std::vector<WordCount> words = counter.words();
  if (words.empty()) throw bad_input({.where = input_name(training.files.back()), .what = "no text in it"});
  return words;
}

TokenizerTraining with_end_of_text(const TokenizerTraining& asked) {
  TokenizerTraining training = asked;
  const bool has_one =
      std::ranges::any_of(asked.special, [](const std::string& token) { return ends_text(token); });
  if (asked.end_of_text && !has_one) training.special.insert(training.special.begin(), kEndOfText);
  return training;
}

}  // namespace

TrainedTokenizer train_tokenizer(const TokenizerTraining& asked, const Threads& threads,
                                 const JobControl& control) {
  const TokenizerTraining training = with_end_of_text(asked);
  check(training);
  const std::vector<WordCount> words = count_words(training, threads, control);
  const int64_t special = std::ssize(training.special);
  const TrainedBpe bpe = train_bpe(words, {.tokens = training.vocabulary - special}, threads, control);
  write_file_atomically(training.out, tokenizer_json(bpe, training.pattern, training.special));
  const int64_t size = std::ssize(bpe.tokens) + special;
  if (size < training.vocabulary && control.log != nullptr) {
    control.log->warn("{} tokens instead of {}: no other pair occurs twice", size, training.vocabulary);
  }
  return {
      .path = training.out, .vocabulary = size, .merges = std::ssize(bpe.merges), .words = std::ssize(words)};
}

nlohmann::ordered_json to_json(const TrainedTokenizer& trained) {
  return {{"path", trained.path.string()},
          {"vocab_size", trained.vocabulary},
          {"merges", trained.merges},
          {"words", trained.words}};
}

std::string to_text(const TrainedTokenizer& trained) {
  return fmt::format("{}: {} tokens, {} merges, from {} different words\n", trained.path.string(),
                     trained.vocabulary, trained.merges, trained.words);
}

}  // namespace sluice
