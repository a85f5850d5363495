#include "sluice/data/compression.h"

#include <gtest/gtest.h>

#include <algorithm>

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
  return unpack(copy, Compression::Gzip, "f.gz", max_bytes);
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
    EXPECT_FALSE(compression_of(bytes));
  }
  EXPECT_EQ(compression_of(gzipped("")), Compression::Gzip);
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

// "hello\n" as the programs of these names pack it.
struct PackedHello {
  Compression compression;
  const char* name;
  std::string_view hex;
};

constexpr PackedHello kPacked[] = {
    {Compression::Bzip2, "bzip2",
     "425a6839314159265359c1c080e2000001410000100244a00030cd00c3462997177245385090c1c080e2"},
    {Compression::Xz, "xz",
     "fd377a585a000004e6d6b4460200210116000000742fe5a301000568656c6c6f0a000000a56097f194f6fde000011e06c12fa4"
     "1d1fb6f37d010000000004595a"},
    {Compression::Zstd, "zstd", "28b52ffd045831000068656c6c6f0a5388bd91"},
};

std::string from_hex(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  return bytes;
}

class OptionalCompression : public testing::TestWithParam<PackedHello> {
 protected:
  void SetUp() override {
    const auto built_in = built_in_compressions();
    if (std::ranges::find(built_in, GetParam().compression) == built_in.end()) {
      EXPECT_BAD_INPUT(text_of(packed_), "f: packed with " + name() +
                                             ", which this sluice was built without (" +
                                             "unpack it first, with " + name() + " -d)");
      GTEST_SKIP() << "built without";
    }
  }

  std::string text_of(const std::string& bytes, size_t max_bytes = kPlenty) const {
    return unpack(bytes, GetParam().compression, "f", max_bytes);
  }
  std::string name() const { return GetParam().name; }

  const std::string packed_ = from_hex(GetParam().hex);
};

TEST_P(OptionalCompression, is_known_by_the_first_bytes) {
  EXPECT_EQ(compression_of(packed_), GetParam().compression);
  EXPECT_EQ(name_of(GetParam().compression), name());
}

TEST_P(OptionalCompression, gives_the_text_of_all_members_back) {
  EXPECT_EQ(text_of(packed_), "hello\n");
  EXPECT_EQ(text_of(packed_ + packed_ + packed_), "hello\nhello\nhello\n");
  EXPECT_EQ(text_of(packed_ + std::string(8, '\0')), "hello\n");
}

TEST_P(OptionalCompression, refuses_a_file_that_is_cut_off_or_has_something_behind) {
  for (size_t size = packed_.size() - 1; compression_of(packed_.substr(0, size)); --size) {
    EXPECT_BAD_INPUT(text_of(packed_.substr(0, size)), "f: the " + name() + " file is cut off");
  }
  EXPECT_BAD_INPUT(text_of(packed_ + "x"), "f: the " + name() + " file is damaged");
  EXPECT_BAD_INPUT(text_of("hello"), "f: not a " + name() + " file");
  EXPECT_BAD_INPUT(text_of(""), "f: not a " + name() + " file");
}

TEST_P(OptionalCompression, reads_the_same_text_or_refuses_whichever_byte_is_damaged) {
  for (size_t at = 0; at < packed_.size(); ++at) {
    std::string damaged = packed_;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    try {
      EXPECT_EQ(text_of(damaged), "hello\n") << "byte " << at;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::BadInput) << "byte " << at;
    }
  }
}

TEST_P(OptionalCompression, refuses_more_text_than_the_limit) {
  EXPECT_EQ(text_of(packed_, 6), "hello\n");
  EXPECT_BAD_INPUT(text_of(packed_ + packed_, 11), "f: too large when unpacked: expected at most 11 bytes");
}

INSTANTIATE_TEST_SUITE_P(Each, OptionalCompression, testing::ValuesIn(kPacked),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(Compression, is_known_by_the_ending_of_a_name) {
  EXPECT_EQ(compression_named("a.txt.gz"), Compression::Gzip);
  EXPECT_EQ(compression_named("a.jsonl.bz2"), Compression::Bzip2);
  EXPECT_EQ(compression_named("a.xz"), Compression::Xz);
  EXPECT_EQ(compression_named("a.zst"), Compression::Zstd);
  EXPECT_EQ(compression_named("a.txt"), std::nullopt);
  EXPECT_EQ(compression_named("-"), std::nullopt);
}

TEST(Compression, is_not_seen_in_text_that_begins_alike) {
  for (const char* text : {"BZh is an abbreviation", "BZh9 as well", "(", "P", "7zXZ", "", "\xfd"})
    EXPECT_EQ(compression_of(text), std::nullopt) << text;
}

}  // namespace
}  // namespace sluice
