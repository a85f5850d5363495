#include "sluice/text/tokenizer.h"
#include "sluice/text/tokenizer_writer.h"

#include <gtest/gtest.h>

#include "sluice/base/random.h"
#include "sluice/base/threads.h"
#include "tests/base/expect_error.h"
#include "tests/base/temporary_directory.h"
#include "tests/text/small_tokenizer.h"

namespace sluice::test {
namespace {

std::string random_bytes(std::uint64_t stream, std::size_t size, unsigned alphabet = 256) {
  std::string text;
  for (std::size_t i = 0; i < size; ++i) {
    text += static_cast<char>(Random(7, stream).below(i, alphabet) + (alphabet < 256 ? 'a' : 0));
  }
  return text;
}

TEST(Tokenizer, merges_by_rank_and_the_leftmost_first) {
  const auto file = small_file({{"b", "c"}, {"a", "b"}, {"a", "a"}});
  EXPECT_EQ(tokens(file, "abc"), "a|bc");
  EXPECT_EQ(tokens(file, "abd"), "ab|d");
  EXPECT_EQ(tokens(file, "aaa"), "aa|a");
  EXPECT_EQ(tokens(file, "aaab"), "aa|ab") << "ab comes before aa";
}

TEST(Tokenizer, merges_a_merged_token_again) {
  EXPECT_EQ(tokens(small_file({{"a", "b"}, {"ab", "ab"}, {"abab", "c"}}), "xababcab"), "x|ababc|ab");
}

TEST(Tokenizer, reads_merges_as_pairs_too) {
  auto file = small_file({{"a", "b"}, {"ab", "c"}});
  file["model"]["merges"] = nlohmann::json::parse(R"([["a", "b"], ["ab", "c"]])");
  EXPECT_EQ(tokens(file, "abcab"), "abc|ab");
}

// The definition, without a queue or a cache.
std::vector<TokenId> merged_slowly(const Tokenizer& tokenizer, const SpelledMerges& merges,
                                   std::string_view text) {
  std::vector<std::string> parts;
  for (const char c : text) parts.emplace_back(1, c);
  for (;;) {
    std::size_t best = merges.size(), at = 0;
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
      for (std::size_t rank = 0; rank < best; ++rank) {
        if (merges[rank] != std::pair(parts[i], parts[i + 1])) continue;
        best = rank;
        at = i;
      }
    }
    if (best == merges.size()) break;
    parts[at] += parts[at + 1];
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  }
  std::vector<TokenId> ids;
  for (const std::string& part : parts) ids.push_back(*tokenizer.token_to_id(part));
  return ids;
}

TEST(Tokenizer, merges_words_of_any_length_by_the_same_rule) {
  const SpelledMerges merges = {{"b", "a"},  {"a", "b"},   {"c", "c"},   {"ba", "b"},    {"a", "a"},
                                {"cc", "a"}, {"aa", "ba"}, {"cc", "cc"}, {"bab", "ccc"}, {"ab", "ab"}};
  auto file = small_file(merges);
  file["model"]["vocab"]["ccc"] = file["model"]["vocab"].size();
  const Tokenizer tokenizer = read(file);
  for (std::uint64_t stream = 0; stream < 60; ++stream) {
    const std::string text = random_bytes(stream, stream * 5, 3);
    EXPECT_EQ(tokenizer.encode(text), merged_slowly(tokenizer, merges, text)) << text;
  }
}

TEST(Tokenizer, takes_a_whole_word_before_merges_if_the_file_says_so) {
  auto file = with_splits(small_file({{"b", "c"}, {"a", "b"}, {"ab", "c"}}), {split("[a-z]+")});
  EXPECT_EQ(tokens(file, "abc abcd"), "a|bc|Ġ|a|bc|d");
  file["model"]["ignore_merges"] = true;
  EXPECT_EQ(tokens(file, "abc abcd"), "abc|Ġ|a|bc|d");
}

TEST(Tokenizer, normalizes_to_nfc_if_the_file_says_so) {
  auto file = small_file({{"Ã", "©"}});
  EXPECT_EQ(tokens(file, "e\u0301\u00e9"), "e|Ì|ģ|Ã©");
  file["normalizer"] = {{"type", "NFC"}};
  EXPECT_EQ(tokens(file, "e\u0301\u00e9"), "Ã©|Ã©");
  file["normalizer"] = {{"type", "Sequence"}, {"normalizers", {{{"type", "NFC"}}}}};
  EXPECT_EQ(tokens(file, "e\u0301"), "Ã©");
  file["normalizer"] = {{"type", "Sequence"}, {"normalizers", nlohmann::json::array()}};
  EXPECT_EQ(tokens(file, "e\u0301"), "e|Ì|ģ");
}

TEST(Tokenizer, merges_within_words_only) {
  const SpelledMerges merges = {{"a", "a"}, {"Ġ", "a"}, {"Ġ", "Ġ"}};
  EXPECT_EQ(tokens(with_splits(small_file(merges), {split("a")}), "aaab"), "a|a|a|b");
  EXPECT_EQ(tokens(with_splits(small_file(merges), {split(R"(\s+(?!\S)|\s+)")}), "aa   aa"), "aa|ĠĠ|Ġ|aa")
      << "the last space is left by the look-ahead";
  EXPECT_EQ(tokens(with_splits(small_file(merges), {split("b"), split("c")}), "aabaacaa"), "aa|b|aa|c|aa");
}

TEST(Tokenizer, splits_by_plain_text_too) {
  auto step = split("");
  step["pattern"] = {{"String", "a+"}};
  EXPECT_EQ(tokens(with_splits(small_file({{"a", "a"}, {"+", "+"}}), {step}), "aa+aaa+++"), "a|a|+|aa|a|+|++")
      << "a+ is no repetition";
}

TEST(Tokenizer, uses_gpt2s_pattern_at_the_byte_level) {
  auto file = small_file({{"Ġ", "a"}, {"1", "a"}, {"'", "s"}});
  file["pre_tokenizer"]["use_regex"] = true;
  EXPECT_EQ(tokens(file, "a a1a's"), "a|Ġa|1|a|'s");
}

TEST(Tokenizer, puts_a_space_in_front_of_each_piece_if_the_file_says_so) {
  auto file = small_file({{"Ġ", "a"}});
  file["pre_tokenizer"]["add_prefix_space"] = true;
  EXPECT_EQ(tokens(file, "aa"), "Ġa|a");
  EXPECT_EQ(tokens(file, " a"), "Ġa");
  EXPECT_EQ(tokens(with_splits(file, {split("b")}), "aba"), "Ġa|Ġ|b|Ġa");
  EXPECT_EQ(tokens(file, ""), "");
}

TEST(Tokenizer, keeps_bytes_that_are_no_text) {
  const Tokenizer tokenizer = read(with_splits(small_file({{"a", "a"}}), {split("a")}));
  EXPECT_EQ(tokens(tokenizer, "aa\xFF\xFE\xC3 a"), "a|a|ÿ|þ|Ã|Ġ|a");
  for (std::uint64_t stream = 0; stream < 50; ++stream) {
    const std::string text = random_bytes(stream, 200);
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
  }
}

TEST(Tokenizer, knows_its_tokens) {
  const Tokenizer tokenizer = read(with_added(small_file({{"Ġ", "a"}}), {added_token(257, "<|end|>")}));
  EXPECT_EQ(tokenizer.size(), 258);
  EXPECT_EQ(tokenizer.token_to_id("Ġa"), 256);
  EXPECT_EQ(tokenizer.token_to_id(" a"), std::nullopt);
  EXPECT_EQ(tokenizer.id_to_token(257), "<|end|>");
  EXPECT_EQ(tokenizer.special_ids(), std::vector<TokenId>{257});
  EXPECT_FALSE(tokenizer.is_special(256));
}

TEST(Tokenizer, refuses_ids_that_there_are_none_of) {
  const Tokenizer tokenizer = Tokenizer::bytes();
  for (const TokenId id : {-1, 256}) {
    const std::string line = "token id: expected integer from 0 to 255, got " + std::to_string(id);
    EXPECT_BAD_INPUT(tokenizer.decode(std::span(&id, 1)), line);
    EXPECT_BAD_INPUT(tokenizer.id_to_token(id), line);
    EXPECT_BAD_INPUT(tokenizer.is_special(id), line);
  }
}

TEST(Tokenizer, gives_the_same_from_many_threads) {
  const Tokenizer tokenizer = read(with_splits(small_file({{"a", "b"}, {"ab", "c"}}), {split("c")}));
  std::vector<std::string> texts;
  for (std::uint64_t stream = 0; stream < 200; ++stream) texts.push_back(random_bytes(stream, 300, 4));
  std::vector<std::vector<TokenId>> ids(texts.size());
  Threads(8).each(200, [&](std::int64_t i) {
    ids[static_cast<std::size_t>(i)] = tokenizer.encode(texts[static_cast<std::size_t>(i)]);
  });
  for (std::size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(ids[i], tokenizer.encode(texts[i]));
}

TEST(ByteTokenizer, has_the_byte_for_its_id) {
  const Tokenizer tokenizer = Tokenizer::bytes();
  EXPECT_EQ(tokenizer.size(), 256);
  EXPECT_EQ(tokenizer.encode("a\n\xFF"), (std::vector<TokenId>{97, 10, 255}));
  EXPECT_EQ(tokenizer.decode(tokenizer.encode("e\u0301\xC3")), "e\u0301\xC3");
  EXPECT_TRUE(tokenizer.special_ids().empty());
}

TEST(TokenizerLoad, takes_a_file_or_a_model_directory) {
  const TemporaryDirectory directory;
  const auto file = directory.file("tokenizer.json", small_file({{"a", "b"}}).dump());
  EXPECT_EQ(Tokenizer::load(file).size(), 257);
  EXPECT_EQ(Tokenizer::load(directory.path()).size(), 257);
}

// Bytes were what such a directory was silently read as: text in, nonsense out.
TEST(TokenizerLoad, refuses_a_model_directory_without_one) {
  const TemporaryDirectory directory;
  directory.file("config.json", "{}");
  EXPECT_BAD_INPUT(Tokenizer::load(directory.path()),
                   directory.path().string() +
                       ": no tokenizer.json in it (name one, or \"bytes\" if its tokens are bytes)");
}

TEST(TokenizerNamed, bytes_is_the_byte_tokenizer) {
  const TemporaryDirectory directory;
  EXPECT_EQ(Tokenizer::named("bytes").encode("z\xFF"), (std::vector<TokenId>{122, 255}));
  const auto file = directory.file("bytes", small_file({{"a", "b"}}).dump());
  EXPECT_EQ(Tokenizer::named(file.string()).size(), 257) << "a path is a path";
}

TEST(ByteTokenizer, is_the_same_after_a_file) {
  const Tokenizer read = Tokenizer::read(Json::parse(byte_tokenizer_json(), "bytes"));
  std::string every_byte;
  for (int byte = 0; byte < 256; ++byte) every_byte += static_cast<char>(byte);
  for (const std::string& text :
       {every_byte, std::string("e\u0301 caf\u00e9  two  spaces\n\n'll"), std::string()}) {
    EXPECT_EQ(read.encode(text), Tokenizer::bytes().encode(text));
    EXPECT_EQ(read.decode(read.encode(text)), text);
  }
  EXPECT_EQ(read.size(), 256);
}

}  // namespace
}  // namespace sluice::test
