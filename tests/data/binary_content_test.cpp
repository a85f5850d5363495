#include "sluice/data/binary_content.h"

#include <gtest/gtest.h>

#include "tests/base/expect_error.h"

namespace sluice {
namespace {

using namespace std::string_literals;

std::string verdict(const std::string& content) {
  try {
    refuse_binary(content, "f");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::BadInput);
    return error.what();
  }
  return "text";
}

TEST(BinaryContent, is_not_text_of_any_kind) {
  for (const std::string& text : {""s, "x"s, "plain\r\n\ttext\x1b[1m\f\n"s, "\xef\xbb\xbfwith a mark"s,
                                  "\u4e2d\u6587"s, "{\"a\": 1}"s, "PK is no archive"s, "7zip"s, "%PDFs"s}) {
    EXPECT_EQ(verdict(text), "text") << text;
  }
}

TEST(BinaryContent, is_not_text_with_some_stray_bytes) {
  std::string latin1;
  for (int i = 0; i < 100; ++i) latin1 += "un caf\xe9 cr\xe8me, ";
  EXPECT_EQ(verdict(latin1), "text");
  EXPECT_EQ(verdict("caf\xe9"), "text") << "too short to tell";
}

TEST(BinaryContent, does_not_mind_a_character_that_the_sample_cuts) {
  std::string text((1 << 16) - 1, 'x');
  EXPECT_EQ(verdict(text + "\u00e9 and more"), "text");
}

TEST(BinaryContent, is_refused_by_what_it_looks_like) {
  const auto like = [](const std::string& kind) { return "f: not text: it looks like " + kind; };
  const std::string filler(300, 'x');
  EXPECT_EQ(verdict("\x40\0\0\0\0\0\0\0{\"a\":{}}      "s), like("a safetensors file"));
  EXPECT_EQ(verdict("PK\x03\x04" + filler), like("a zip archive"));
  EXPECT_EQ(verdict("\x89PNG\r\n\x1a\n" + filler), like("a PNG image"));
  EXPECT_EQ(verdict("%PDF-1.7\n" + filler), like("a PDF document"));
  EXPECT_EQ(verdict("SLUICTOK\1\0"s + filler), like("a token shard"));
  EXPECT_EQ(verdict("PAR1\0"s + filler), like("a Parquet file"));
  EXPECT_EQ(verdict(std::string(257, 'a') + "ustar\0"s), like("a tar archive"));
  for (const char* word : {"GGUF is a format", "PAR1 was a ship", "GIF89a and its animations"})
    EXPECT_EQ(verdict(word + filler), "text") << "a text about it";
  EXPECT_EQ(verdict("\xff\xfeh\0i\0"s),
            like("text in UTF-16 (iconv -t UTF-8 turns other encodings into what is read here)"));
}

TEST(BinaryContent, is_refused_whatever_it_is) {
  EXPECT_EQ(verdict("some\0thing"s), "f: not text: it looks like binary data, with NUL bytes");
  std::string noise;
  for (int i = 0; i < 1000; ++i) noise += static_cast<char>(1 + i * 37 % 255);
  EXPECT_EQ(verdict(noise),
            "f: not text: it looks like binary data, or text that is not UTF-8 (iconv -t UTF-8 "
            "turns other encodings into what is read here)");
}

}  // namespace
}  // namespace sluice
