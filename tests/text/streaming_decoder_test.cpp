#include "sluice/text/streaming_decoder.h"

#include <gtest/gtest.h>

#include "sluice/base/random.h"
#include "sluice/text/utf8.h"
#include "tests/text/small_tokenizer.h"

namespace sluice::test {
namespace {

// All that comes out, with each part checked to be text.
std::string streamed(const Tokenizer& tokenizer, const std::vector<TokenId>& ids) {
  StreamingDecoder decoder(tokenizer);
  std::string all;
  for (const TokenId id : ids) {
    const std::string part = decoder.push(id);
    EXPECT_EQ(well_formed_length(part), part.size());
    all += part;
  }
  return all + decoder.finish();
}

TEST(StreamingDecoder, waits_for_the_rest_of_a_character) {
  StreamingDecoder decoder(Tokenizer::bytes());
  EXPECT_EQ(decoder.push(0xF0), "");
  EXPECT_EQ(decoder.push(0x9F), "");
  EXPECT_EQ(decoder.push(0x98), "");
  EXPECT_EQ(decoder.push(0x80), "\U0001F600");
  EXPECT_EQ(decoder.push('a'), "a");
  EXPECT_EQ(decoder.finish(), "");
}

TEST(StreamingDecoder, does_not_wait_for_what_cannot_come) {
  StreamingDecoder decoder(Tokenizer::bytes());
  EXPECT_EQ(decoder.push(0xE2), "");
  EXPECT_EQ(decoder.push('a'), "\uFFFDa");
  EXPECT_EQ(decoder.push(0xFF), "\uFFFD");
  EXPECT_EQ(decoder.push(0xC3), "");
  EXPECT_EQ(decoder.finish(), "\uFFFD");
  EXPECT_EQ(decoder.push('b'), "b") << "as new";
}

TEST(StreamingDecoder, gives_the_same_for_tokens_cut_anywhere) {
  const std::string text = "a\u00e9\u20ac\U0001F600\xFF\xE2\x82z";
  const std::string expected = with_ill_formed_replaced(text);
  for (std::size_t first = 0; first <= text.size(); ++first) {
    for (std::size_t second = first; second <= text.size(); ++second) {
      // Tokens that are these three parts of the text.
      auto file = small_file();
      std::vector<TokenId> ids;
      for (const std::string& part :
           {text.substr(0, first), text.substr(first, second - first), text.substr(second)}) {
        auto& vocab = file["model"]["vocab"];
        ids.push_back(vocab.emplace(spelled(part), vocab.size()).first->get<TokenId>());
      }
      ASSERT_EQ(streamed(read(file), ids), expected) << first << ", " << second;
    }
  }
}

TEST(StreamingDecoder, agrees_with_decoding_at_once) {
  const Tokenizer tokenizer = Tokenizer::bytes();
  for (std::uint64_t stream = 0; stream < 300; ++stream) {
    std::vector<TokenId> ids;
    for (std::uint64_t i = 0; i < 40; ++i) {
      // Mostly bytes of characters with several.
      ids.push_back(static_cast<TokenId>(0x70 + Random(3, stream).below(i, 0x90)));
    }
    EXPECT_EQ(streamed(tokenizer, ids), with_ill_formed_replaced(tokenizer.decode(ids)));
  }
}

TEST(StreamingDecoder, skips_special_tokens_if_asked) {
  const Tokenizer tokenizer = read(with_added(small_file(), {added_token(256, "<x>")}));
  StreamingDecoder decoder(tokenizer, SpecialTokens::Skip);
  EXPECT_EQ(decoder.push(256), "");
  EXPECT_EQ(decoder.push('a'), "a");
}

}  // namespace
}  // namespace sluice::test
