#include "sluice/data/gzip.h"

#include <gtest/gtest.h>

#include "tests/base/expect_error.h"
#include "tests/data/gzip_bytes.h"

namespace sluice {
namespace {

constexpr size_t kPlenty = size_t{1} << 30;

// Text that does not pack to nothing, so that a file of it has several blocks.
std::string long_text(size_t size) {
  std::string text;
  uint32_t state = 1;
  while (text.size() < size) {
    state = state * 1664525U + 1013904223U;  // constants of Numerical Recipes; any would do
    text += static_cast<char>('a' + (state >> 24) % 26);
  }
  return text;
}

std::string unpacked(std::string_view bytes, size_t max_bytes = kPlenty) {
  // A copy on the heap, so that the address sanitizer sees a read beyond its end.
  const std::string copy(bytes);
  return gunzip(copy, "f.gz", max_bytes);
}

TEST(Gzip, gives_the_text_back) {
  for (const size_t size : {0U, 1U, 100U, 1U << 20, (1U << 20) + 1, 3'000'000U}) {
    const std::string text = long_text(size);
    EXPECT_EQ(unpacked(gzipped(text)), text) << size << " bytes";
  }
  const std::string bytes("a\0b\n\xff", 5);
  EXPECT_EQ(unpacked(gzipped(bytes)), bytes);
}

TEST(Gzip, reads_a_small_file_that_becomes_large) {
  const std::string zeros(10'000'000, '0');
  EXPECT_EQ(unpacked(gzipped(zeros)), zeros);
}

// As `cat a.gz b.gz` makes them, and programs that pack in parallel.
TEST(Gzip, reads_all_members_of_a_file) {
  EXPECT_EQ(unpacked(gzipped("one ") + gzipped("") + gzipped("two ") + gzipped("three")), "one two three");
  const std::string text = long_text(2'000'000);
  EXPECT_EQ(unpacked(gzipped(text) + gzipped(text)), text + text);
}

TEST(Gzip, does_not_mind_zeros_behind_the_last_member) {
  EXPECT_EQ(unpacked(gzipped("text") + std::string(1, '\0')), "text");
  EXPECT_EQ(unpacked(gzipped("text") + std::string(1000, '\0')), "text");
}

TEST(Gzip, refuses_anything_else_behind_the_last_member) {
  const std::string damaged = "f.gz: the gzip file is damaged";
  EXPECT_BAD_INPUT(unpacked(gzipped("text") + "x"), damaged);
  EXPECT_BAD_INPUT(unpacked(gzipped("text") + std::string(10, '\0') + "x"), damaged);
  EXPECT_BAD_INPUT(unpacked(gzipped("text") + std::string(10, '\0') + gzipped("more")), damaged);
}

TEST(Gzip, refuses_what_is_none) {
  for (const std::string bytes : {"", "x", "\x1f", "{\"text\": \"plain\"}", "PK\x03\x04"}) {
    EXPECT_BAD_INPUT(unpacked(bytes), "f.gz: not a gzip file");
    EXPECT_FALSE(is_gzip(bytes));
  }
  EXPECT_TRUE(is_gzip(gzipped("")));
}

TEST(Gzip, refuses_a_file_that_is_cut_off_anywhere) {
  const std::string file = gzipped(long_text(300));
  for (size_t size = 2; size < file.size(); ++size) {
    EXPECT_BAD_INPUT(unpacked(std::string_view(file).substr(0, size)), "f.gz: the gzip file is cut off");
  }
}

TEST(Gzip, refuses_a_second_member_that_is_cut_off_anywhere) {
  const std::string first = gzipped("first"), second = gzipped("second");
  for (size_t size = 1; size < second.size(); ++size) {
    EXPECT_THROW(unpacked(first + second.substr(0, size)), Error) << size << " bytes of the second";
  }
}

// Some bytes say nothing of the text: the time, the system. All others are noticed.
TEST(Gzip, reads_the_same_text_or_refuses_whichever_byte_is_damaged) {
  const std::string text = long_text(300);
  const std::string file = gzipped(text);
  size_t harmless = 0;
  for (size_t at = 0; at < file.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = file;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      try {
        EXPECT_EQ(unpacked(damaged), text) << "bit " << bit << " of byte " << at;
        ++harmless;
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::BadInput);
      }
    }
  }
  EXPECT_GE(harmless, 6U * 8) << "four bytes of time, one each of packing level and system";
  EXPECT_LT(harmless, 8U * 8);
}

TEST(Gzip, refuses_more_text_than_the_limit) {
  const std::string text(5'000'000, '0');
  EXPECT_EQ(unpacked(gzipped(text), text.size()), text);
  EXPECT_BAD_INPUT(unpacked(gzipped(text), text.size() - 1),
                   "f.gz: too large when unpacked: expected at most 4999999 bytes");
  EXPECT_BAD_INPUT(unpacked(gzipped("x"), 0), "f.gz: too large when unpacked: expected at most 0 bytes");
  EXPECT_BAD_INPUT(unpacked(gzipped("four") + gzipped("four"), 7),
                   "f.gz: too large when unpacked: expected at most 7 bytes");
}

}  // namespace
}  // namespace sluice
