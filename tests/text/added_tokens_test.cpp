// Tokens that are looked for before anything else, by their flags.
#include "sluice/text/added_tokens.h"

#include <gtest/gtest.h>

#include "tests/text/small_tokenizer.h"

namespace sluice::test {
namespace {

nlohmann::json flagged(const std::string& flag, const std::string& content = "<x>") {
  auto token = added_token(256, content);
  token[flag] = true;
  return with_added(small_file(), {token});
}

TEST(AddedTokens, are_found_anywhere_in_the_text) {
  const auto file = with_added(small_file({{"<", "x"}}), {added_token(257, "<x>")});
  EXPECT_EQ(tokens(file, "<x>a<x><x>b<x"), "<x>|a|<x>|<x>|b|<x");
}

TEST(AddedTokens, are_the_leftmost_and_longest) {
  const auto file =
      with_added(small_file(), {added_token(256, "ab"), added_token(257, "abcd"), added_token(258, "bc")});
  EXPECT_EQ(tokens(file, "abcd"), "abcd");
  EXPECT_EQ(tokens(file, "abcx"), "ab|c|x");
  EXPECT_EQ(tokens(file, "xbcd"), "x|bc|d");
}

TEST(AddedTokens, may_be_tokens_of_the_model) {
  const auto file = with_added(small_file({{"a", "b"}}), {added_token(256, "ab")});
  const Tokenizer tokenizer = read(file);
  EXPECT_EQ(tokenizer.size(), 257);
  EXPECT_TRUE(tokenizer.is_special(256));
}

TEST(AddedTokens, take_white_space_along_if_they_strip) {
  EXPECT_EQ(tokens(flagged("lstrip"), "a \u3000<x> b"), "a|<x>|Ġ|b");
  EXPECT_EQ(tokens(flagged("rstrip"), "a <x>\n\u00a0b"), "a|Ġ|<x>|b");
  EXPECT_EQ(tokens(flagged("lstrip"), "<x>  <x>"), "<x>|<x>");
  EXPECT_EQ(tokens(flagged("rstrip"), "<x>  "), "<x>");
  EXPECT_EQ(tokens(flagged("lstrip"), "\u180e<x>"), "á|ł|İ|<x>") << "not a white space";
}

TEST(AddedTokens, stand_alone_if_they_are_single_words) {
  EXPECT_EQ(tokens(flagged("single_word", "ab"), "ab abc cab ab."), "ab|Ġ|a|b|c|Ġ|c|a|b|Ġ|ab|.");
  EXPECT_EQ(tokens(flagged("single_word", "ab"), "_ab ab\u0301"), "_|a|b|Ġ|a|b|Ì|ģ");
}

TEST(AddedTokens, are_looked_for_in_normalized_text_if_they_say_so) {
  auto file = flagged("normalized", "e\u0301");
  file["normalizer"] = {{"type", "NFC"}};
  EXPECT_EQ(read(file).encode("\u00e9e\u0301"), (std::vector<TokenId>{256, 256}));
  file["added_tokens"][0]["normalized"] = false;
  EXPECT_EQ(read(file).encode("\u00e9e\u0301"), (std::vector<TokenId>{0xC3, 0xA9, 256}));
}

TEST(AddedTokens, are_normalized_by_default_unless_special) {
  auto file = flagged("normalized", "e\u0301");
  file["normalizer"] = {{"type", "NFC"}};
  file["added_tokens"][0].erase("normalized");
  EXPECT_EQ(read(file).encode("\u00e9").size(), 2U);
  file["added_tokens"][0]["special"] = false;
  EXPECT_EQ(read(file).encode("\u00e9").size(), 1U);
}

TEST(AddedTokens, are_skipped_by_decoding_if_special) {
  auto plain = added_token(257, "<y>");
  plain["special"] = false;
  const Tokenizer tokenizer = read(with_added(small_file(), {added_token(256, "<x>"), plain}));
  const std::vector<TokenId> ids = tokenizer.encode("a<x>b<y>");
  EXPECT_EQ(tokenizer.decode(ids), "a<x>b<y>");
  EXPECT_EQ(tokenizer.decode(ids, SpecialTokens::Skip), "ab<y>");
}

TEST(AddedTokens, decode_to_their_text_if_it_spells_no_bytes) {
  const Tokenizer tokenizer = read(with_added(small_file(), {added_token(256, "<\u4f60 \u597d>")}));
  EXPECT_EQ(tokenizer.decode(tokenizer.encode("<\u4f60 \u597d>")), "<\u4f60 \u597d>");
}

TEST(AddedTokens, are_no_whole_words_of_the_model) {
  auto file = with_splits(flagged("single_word", "ab"), {split("[a-z]+")});
  file["model"]["ignore_merges"] = true;
  EXPECT_EQ(tokens(file, "ab1"), "a|b|1") << "a letter or digit touches it";
}

}  // namespace
}  // namespace sluice::test
