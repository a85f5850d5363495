#include "sluice/text/word_counter.h"

#include <gtest/gtest.h>

#include "tests/base/expect_error.h"

namespace sluice::test {
namespace {

// "word:count" of each, with | between.
std::string counts(const WordCounter& counter) {
  std::string joined;
  for (const auto& [word, count] : counter.words()) {
    joined += (joined.empty() ? "" : "|") + word + ":" + std::to_string(count);
  }
  return joined;
}

std::string counts_of(const std::string& text, TextFormat format = TextFormat::Plain) {
  const Threads threads(2);
  WordCounter counter({.special = {"<|end|>"}}, threads);
  counter.add(text, format, "f");
  return counts(counter);
}

TEST(WordCounter, counts_words_sorted) {
  EXPECT_EQ(counts_of("b a a 7"), " :1| a:2|7:1|b:1");
  EXPECT_EQ(counts_of(""), "");
}

TEST(WordCounter, counts_in_form_c_without_special_tokens_and_stray_bytes) {
  EXPECT_EQ(counts_of("e\u0301<|end|>\u00e9\xFF"
                      "a"),
            "a:1|\u00e9:2");
}

TEST(WordCounter, reads_the_text_of_json_lines) {
  EXPECT_EQ(counts_of("{\"text\":\"a\\nb\",\"id\":1}\n\n{\"text\":\"a\"}", TextFormat::JsonLines),
            "\n:1|a:2|b:1");
  EXPECT_BAD_INPUT(counts_of("{\"text\":\"a\"}\n\n{\"txt\":\"a\"}\n", TextFormat::JsonLines),
                   "f: line 3: text: required key is missing");
}

TEST(WordCounter, does_not_cut_words_between_pieces) {
  std::string text;
  for (int i = 0; i < 500000; ++i) text += "word ";
  EXPECT_EQ(counts_of(text), " :1| word:499999|word:1");
}

TEST(WordCounter, cuts_words_beyond_any_language) {
  EXPECT_EQ(counts_of(std::string(2050, 'a')), "aa:1|" + std::string(1024, 'a') + ":2");
}

TEST(WordCounter, adds_up_texts_of_either_kind) {
  const Threads threads(1);
  WordCounter counter({}, threads);
  counter.add("a a", TextFormat::Plain, "a.txt");
  counter.add("{\"text\": \"a\"}\n", TextFormat::JsonLines, "b.jsonl");
  EXPECT_EQ(counts(counter), " a:1|a:2");
}

}  // namespace
}  // namespace sluice::test
