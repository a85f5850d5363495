// How often each word occurs in a corpus: what the training of a tokenizer starts from.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sluice/base/threads.h"
#include "sluice/text/added_tokens.h"
#include "sluice/text/text_format.h"
#include "sluice/text/tokenizer_parts.h"

namespace sluice {

struct WordCount {
  std::string word;  // bytes
  std::int64_t count = 0;
};

class WordCounter {
 public:
  struct Options {
    WordPattern pattern = WordPattern::Qwen;
    std::vector<std::string> special = {};  // not part of any word
  };
  WordCounter(Options options, const Threads& threads);

  // The name is for errors.
  void add(std::string_view content, TextFormat format, const std::string& name);

  // Sorted by word, so that the order does not tell how the counting was split.
  std::vector<WordCount> words() const;

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  using Counts = std::unordered_map<std::string, std::int64_t, Hash, std::equal_to<>>;
  struct Tally {
    PatternScratch scratch;
    Counts counts;
  };

  void count_text(std::string_view text, Tally& tally) const;
  void count_well_formed(std::string_view text, Tally& tally) const;
  void count_words(std::string_view text, Tally& tally) const;
  void count_lines(std::string_view lines, const std::string& name, std::size_t first_line,
                   Tally& tally) const;

  const Threads& threads_;
  Normalization normalization_;
  PreTokenizer pre_tokenizer_;
  AddedTokenFinder special_;
  std::mutex mutex_;
  Counts total_;
};

}  // namespace sluice
