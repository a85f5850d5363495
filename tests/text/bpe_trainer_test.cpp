// From text to a tokenizer.json and back to text.
#include "sluice/text/bpe_trainer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "sluice/base/random.h"
#include "sluice/text/tokenizer.h"
#include "sluice/text/tokenizer_writer.h"
#include "tests/base/expect_error.h"
#include "tests/base/temporary_directory.h"

namespace sluice::test {
namespace {

// Made-up words, some of them often.
std::string random_text(std::uint64_t words) {
  const Random random(11);
  std::string text;
  for (std::uint64_t i = 0; i < words; ++i) {
    const std::uint64_t word = random.below(2 * i, 1 + random.below(2 * i + 1, 400));
    for (std::uint64_t k = 0; k < 2 + word % 7; ++k)
      text += static_cast<char>('a' + Random(12, word).below(k, 6));
    text += i % 11 == 0 ? "\n" : i % 7 == 0 ? " 12, \u00e9" : " ";
  }
  return text;
}

std::vector<WordCount> counted(const std::string& text, int threads = 1) {
  const Threads pool(threads);
  WordCounter counter({}, pool);
  counter.add(text, TextFormat::Plain, "text");
  return counter.words();
}

std::string trained_json(const std::string& text, std::int64_t tokens, int threads) {
  return tokenizer_json(train_bpe(counted(text, threads), {.tokens = tokens}, Threads(threads)),
                        WordPattern::Qwen, {"<|end|>"});
}

using Spelled = std::vector<std::pair<std::string, std::string>>;

Spelled merges_of(const std::vector<WordCount>& words, std::int64_t merges) {
  const TrainedBpe trained = train_bpe(words, {.tokens = 256 + merges}, Threads(1));
  Spelled result;
  for (const auto& [left, right] : trained.merges) {
    result.emplace_back(trained.tokens[static_cast<std::size_t>(left)],
                        trained.tokens[static_cast<std::size_t>(right)]);
  }
  return result;
}

TEST(BpeTrainer, merges_the_most_frequent_pair_first) {
  EXPECT_EQ(merges_of({{"abab", 3}, {"bc", 5}, {"abc", 2}}, 9),
            (Spelled{{"a", "b"}, {"b", "c"}, {"ab", "ab"}, {"ab", "c"}}));
}

TEST(BpeTrainer, takes_the_smaller_ids_of_equally_frequent_pairs) {
  EXPECT_EQ(merges_of({{"xy", 4}, {"cd", 4}, {"ce", 4}}, 9), (Spelled{{"c", "d"}, {"c", "e"}, {"x", "y"}}));
}

TEST(BpeTrainer, counts_overlapping_pairs_as_they_are_merged) {
  EXPECT_EQ(merges_of({{"aaaaa", 2}}, 9), (Spelled{{"a", "a"}, {"aa", "a"}, {"aa", "aaa"}}));
}

TEST(BpeTrainer, leaves_out_what_is_seen_once) {
  EXPECT_EQ(merges_of({{"abc", 1}, {"cd", 2}}, 9), (Spelled{{"c", "d"}}));
}

TEST(BpeTrainer, stops_at_the_wanted_number_of_tokens) {
  EXPECT_EQ(merges_of({{"abcdef", 5}}, 2).size(), 2U);
  EXPECT_EQ(merges_of({{"abcdef", 5}}, 0).size(), 0U);
}

// The definition: count all pairs anew for each merge.
Spelled merges_counted_anew(const std::vector<WordCount>& words, const TrainedBpe& numbering,
                            std::size_t merges) {
  std::map<std::string, std::size_t> ids;
  for (std::size_t id = 0; id < numbering.tokens.size(); ++id) ids[numbering.tokens[id]] = id;
  std::vector<std::vector<std::string>> split;
  for (const WordCount& word : words) {
    split.emplace_back();
    for (const char byte : word.word) split.back().emplace_back(1, byte);
  }
  Spelled result;
  while (result.size() < merges) {
    std::map<std::pair<std::string, std::string>, std::int64_t> counts;
    for (std::size_t w = 0; w < split.size(); ++w) {
      for (std::size_t i = 0; i + 1 < split[w].size(); ++i)
        counts[{split[w][i], split[w][i + 1]}] += words[w].count;
    }
    const auto rank = [&](const auto& entry) {
      return std::tuple(-entry.second, ids.at(entry.first.first), ids.at(entry.first.second));
    };
    const auto best = std::ranges::min_element(counts, {}, rank);
    result.push_back(best->first);
    for (auto& word : split) {
      for (std::size_t i = 0; i + 1 < word.size(); ++i) {
        if (std::pair(word[i], word[i + 1]) != result.back()) continue;
        word[i] += word[i + 1];
        word.erase(word.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      }
    }
  }
  return result;
}

TEST(BpeTrainer, keeps_counts_that_are_right) {
  const std::vector<WordCount> words = counted(random_text(3000));
  const Spelled merges = merges_of(words, 300);
  ASSERT_EQ(merges.size(), 300U);
  EXPECT_EQ(merges, merges_counted_anew(words, train_bpe(words, {.tokens = 556}, Threads(1)), 300));
}

TEST(BpeTrainer, gives_the_same_for_any_number_of_threads) {
  const std::string text = random_text(500000);
  ASSERT_GT(text.size(), std::size_t{2} << 20) << "several pieces";
  const std::string one = trained_json(text, 500, 1);
  EXPECT_EQ(trained_json(text, 500, 2), one);
  EXPECT_EQ(trained_json(text, 500, 5), one);
}

TEST(TrainedTokenizer, loads_and_gives_text_back) {
  const std::string text = random_text(3000);
  const Tokenizer tokenizer = Tokenizer::read(Json::parse(trained_json(text, 600, 2), "t.json"));
  EXPECT_EQ(tokenizer.size(), 601);
  EXPECT_EQ(tokenizer.special_ids(), std::vector<TokenId>{600});
  EXPECT_EQ(tokenizer.encode("<|end|>"), std::vector<TokenId>{600});
  const std::vector<TokenId> ids = tokenizer.encode(text);
  EXPECT_LT(ids.size(), text.size() / 2);
  EXPECT_EQ(tokenizer.decode(ids), text);
  for (std::uint64_t stream = 0; stream < 50; ++stream) {
    std::string bytes;
    for (std::uint64_t i = 0; i < 100; ++i) bytes += static_cast<char>(Random(1, stream).below(i, 256));
    // Stray bytes may happen to be characters that form C spells differently; those of this seed are not.
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(bytes)), bytes);
  }
}

TEST(TrainedTokenizer, has_either_pattern) {
  const TrainedBpe trained = train_bpe(counted("ab ab 12 12"), {.tokens = 270}, Threads(1));
  const auto gpt2 = Tokenizer::read(Json::parse(tokenizer_json(trained, WordPattern::Gpt2, {}), "t.json"));
  EXPECT_EQ(gpt2.decode(gpt2.encode("e\u0301 ab")), "e\u0301 ab") << "no normalisation";
  const auto qwen = Tokenizer::read(Json::parse(tokenizer_json(trained, WordPattern::Qwen, {}), "t.json"));
  EXPECT_EQ(qwen.decode(qwen.encode("e\u0301 ab")), "\u00e9 ab");
}

TEST(TrainedTokenizer, refuses_a_special_token_that_is_spelt_like_another) {
  const TrainedBpe trained = train_bpe(counted("ab ab"), {.tokens = 270}, Threads(1));
  EXPECT_BAD_INPUT(tokenizer_json(trained, WordPattern::Qwen, {"a"}),
                   "special token: \"a\" is spelt like another token (put it between signs, as in <|end|>)");
}

}  // namespace
}  // namespace sluice::test
