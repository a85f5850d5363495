// UTF-8, form C and the spelling of bytes.
#include <gtest/gtest.h>

#include "sluice/base/random.h"
#include "sluice/text/byte_alphabet.h"
#include "sluice/text/nfc.h"
#include "sluice/text/utf8.h"

namespace sluice {
namespace {

TEST(Utf8, replaces_each_ill_formed_part_once) {
  EXPECT_EQ(with_ill_formed_replaced("a\xFF"
                                     "b"),
            "a\uFFFDb");
  EXPECT_EQ(with_ill_formed_replaced("\xE2\x82"), "\uFFFD") << "cut off";
  EXPECT_EQ(with_ill_formed_replaced("\xE2\x82\x41"), "\uFFFD\x41");
  EXPECT_EQ(with_ill_formed_replaced("\xC0\x80"), "\uFFFD\uFFFD") << "overlong";
  EXPECT_EQ(with_ill_formed_replaced("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD") << "a surrogate";
  EXPECT_EQ(with_ill_formed_replaced("\xF4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD") << "beyond U+10FFFF";
  EXPECT_EQ(with_ill_formed_replaced("\xF0\x9F\x98\xF0\x9F\x98\x80"), "\uFFFD\U0001F600");
}

TEST(Utf8, reads_and_writes_every_character) {
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    if (c >= 0xD800 && c < 0xE000) continue;
    std::string text;
    append_utf8(c, text);
    ASSERT_EQ(well_formed_length(text), text.size()) << unsigned{c};
    ASSERT_EQ(first_character(text + "x").value, c);
    ASSERT_EQ(last_character("x" + text).value, c);
    for (std::size_t cut = 1; cut < text.size(); ++cut) {
      const Utf8Front front = utf8_front(text.substr(0, cut));
      ASSERT_EQ(front.form, Utf8Form::CutOff);
      ASSERT_EQ(front.length, cut);
    }
  }
}

TEST(Utf8, finds_the_first_byte_of_no_character) {
  for (std::size_t at = 0; at < 40; ++at) {
    std::string text(40, 'a');
    text[at] = '\x80';
    EXPECT_EQ(well_formed_length(text), at);
  }
}

TEST(Utf8, knows_word_characters) {
  for (const char32_t c : std::u32string_view(U"aZ09_\u00e9\u0301\u4e00\u203f\u200d\u24b6\u2160")) {
    EXPECT_TRUE(is_word_character(c)) << unsigned{c};
  }
  for (const char32_t c : std::u32string_view(U" -.\u00b2\u00bd\u2014\u3000\U0001F600")) {
    EXPECT_FALSE(is_word_character(c)) << unsigned{c};
  }
}

TEST(Nfc, composes_marks_and_syllables) {
  EXPECT_EQ(to_nfc("e\u0301"), "\u00e9");
  EXPECT_EQ(to_nfc("xe\u0301y\u00e9e\u0301"), "x\u00e9y\u00e9\u00e9");
  EXPECT_EQ(to_nfc("\u1112\u1161\u11ab"), "\ud55c");
  EXPECT_EQ(to_nfc("\u212b"), "\u00c5") << "the angstrom sign";
  EXPECT_EQ(to_nfc("\u0958"), "\u0915\u093c") << "excluded from composition";
  EXPECT_EQ(to_nfc("\u00e9\u0323"), "\u1eb9\u0301") << "a composed character before a mark that goes first";
}

TEST(Nfc, orders_marks_by_their_class) {
  EXPECT_EQ(to_nfc("q\u0307\u0323"), "q\u0323\u0307");
  EXPECT_EQ(to_nfc("a\u0301\u0327"), "\u00e1\u0327");
}

TEST(Nfc, leaves_the_rest_alone) {
  for (const char* text : {"", "plain", "\u00fc\u00df\u017f", "\u5317\u4eac \U0001F600 \u2013"}) {
    EXPECT_EQ(to_nfc(text), text);
  }
  EXPECT_TRUE(is_surely_nfc("\u00fc"));
  EXPECT_FALSE(is_surely_nfc("u\u0308"));
}

TEST(Nfc, takes_a_long_run_of_marks_in_its_stride) {
  std::string text = "a";
  for (int i = 0; i < 100000; ++i) text += i % 2 == 0 ? "\u0307" : "\u0323";
  EXPECT_EQ(to_nfc(text).size(), text.size())
      << "the first dot below becomes part of the letter: 1+2 bytes to 3";
}

TEST(ByteAlphabet, spells_each_byte_with_one_character) {
  EXPECT_EQ(spelled(" \n\tA~\x7F\xAD\xFF"), "ĠĊĉA~ġŃÿ");
  for (int byte = 0; byte < 256; ++byte) {
    const std::string bytes(1, static_cast<char>(byte));
    EXPECT_EQ(bytes_of_spelling(spelled(bytes)), bytes);
  }
}

TEST(ByteAlphabet, does_not_read_other_characters) {
  EXPECT_EQ(bytes_of_spelling("a b"), std::nullopt);
  EXPECT_EQ(bytes_of_spelling("\u4f60"), std::nullopt);
  EXPECT_EQ(bytes_of_spelling("\u0144"), std::nullopt);
  EXPECT_EQ(bytes_of_spelling(""), "");
}

}  // namespace
}  // namespace sluice
