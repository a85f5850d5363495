#include "sluice/data/token_shard.h"

#include <gtest/gtest.h>

#include <fstream>

#include "sluice/base/assert.h"
#include "tests/base/expect_error.h"
#include "tests/data/shard_file.h"

namespace sluice {
namespace {

const Documents kDocuments = {{5, 6, 7}, {}, {8}, {1, 2, 3, 4, 5, 6}};

class TokenShards : public testing::Test {
 protected:
  std::filesystem::path path(const char* name = "a.tokens") const { return directory_.path() / name; }

  // The bytes of a good shard: 14 tokens in 4 documents, of which a test changes some.
  std::string good() const {
    write_shard(path(), kDocuments, {.vocabulary = 300, .end_of_text = 299});
    std::ifstream file(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  static TokenShard opened(const std::string& bytes) {
    return TokenShard(std::as_bytes(std::span(bytes)), "f.tokens");
  }

  TemporaryDirectory directory_;
};

TEST_F(TokenShards, give_back_what_was_written) {
  const TokenShardInfo written = write_shard(path(), kDocuments, {.vocabulary = 300, .end_of_text = 299});
  const TokenShard shard(path());
  EXPECT_EQ(shard.info().width, 2);
  EXPECT_EQ(shard.info().vocabulary, 300);
  EXPECT_EQ(shard.info().tokens, 14);
  EXPECT_EQ(shard.info().documents, 4);
  EXPECT_EQ(shard.info().text_bytes, 10);
  EXPECT_EQ(shard.info().end_of_text, 299);
  EXPECT_EQ(shard.info().checksum, written.checksum);
  EXPECT_EQ(documents_of(shard), (Documents{{5, 6, 7, 299}, {299}, {8, 299}, {1, 2, 3, 4, 5, 6, 299}}));
  EXPECT_NO_THROW(shard.verify());
}

TEST_F(TokenShards, store_ids_in_two_bytes_where_they_fit) {
  for (const int64_t vocabulary : {1LL, 256LL, 65'536LL, 65'537LL, 151'936LL, 2'147'483'647LL}) {
    const auto last = static_cast<TokenId>(vocabulary - 1);
    write_shard(path(), {{0, last, last / 2}}, {.vocabulary = vocabulary, .end_of_text = last});
    const TokenShard shard(path());
    EXPECT_EQ(shard.info().width, vocabulary <= 65'536 ? 2 : 4);
    EXPECT_EQ(documents_of(shard), (Documents{{0, last, last / 2, last}})) << vocabulary;
    EXPECT_NO_THROW(shard.verify());
  }
}

TEST_F(TokenShards, may_be_empty) {
  write_shard(path(), {}, {.vocabulary = 10, .end_of_text = 0});
  const TokenShard shard(path());
  EXPECT_EQ(shard.info().tokens, 0);
  EXPECT_EQ(shard.info().documents, 0);
  EXPECT_NO_THROW(shard.verify());
}

TEST_F(TokenShards, are_read_from_any_token_on) {
  write_shard(path(), kDocuments, {.vocabulary = 300, .end_of_text = 299});
  const TokenShard shard(path());
  std::vector<TokenId> ids(3);
  shard.read(2, ids);
  EXPECT_EQ(ids, (std::vector<TokenId>{7, 299, 299}));
  EXPECT_THROW(shard.read(12, ids), AssertionError);
  EXPECT_THROW(shard.document(4), AssertionError);
}

TEST_F(TokenShards, outlive_their_copies_and_the_file_name) {
  write_shard(path(), kDocuments, {.vocabulary = 300, .end_of_text = 299});
  auto first = std::make_unique<TokenShard>(path());
  const TokenShard copy = *first;
  first.reset();
  std::filesystem::remove(path());
  EXPECT_EQ(documents_of(copy).front().front(), 5);
}

TEST_F(TokenShards, appear_only_when_they_are_whole) {
  {
    TokenShardWriter writer(path(), {.vocabulary = 10, .end_of_text = 0});
    writer.add(std::vector<TokenId>{1, 2}, 2);
  }
  EXPECT_EQ(directory_.entries(), 0U);
}

TEST_F(TokenShards, take_no_id_outside_the_vocabulary) {
  TokenShardWriter writer(path(), {.vocabulary = 10, .end_of_text = 0});
  EXPECT_THROW(writer.add(std::vector<TokenId>{10}, 1), AssertionError);
  EXPECT_THROW(writer.add(std::vector<TokenId>{-1}, 1), AssertionError);
  EXPECT_THROW(TokenShardWriter(path(), {.vocabulary = 10, .end_of_text = 10}), AssertionError);
}

TEST_F(TokenShards, what_is_none_is_refused) {
  const auto refused = [](const std::string& size) {
    return "f.tokens: not a token shard: expected at least 64 bytes that begin with SLUICTOK, got " + size +
           " bytes (sluice data tokenize makes one)";
  };
  EXPECT_BAD_INPUT(opened(""), refused("0"));
  EXPECT_BAD_INPUT(opened("{\"text\": \"plain\"}\n"), refused("18"));
  EXPECT_BAD_INPUT(opened(std::string(100, 'x')), refused("100"));
  EXPECT_BAD_INPUT(opened(good().substr(0, 63)), refused("63"));
  EXPECT_THROW(TokenShard(path("gone.tokens")), Error);
}

TEST_F(TokenShards, of_another_version_are_refused) {
  std::string file = good();
  put_number<uint32_t>(file, 8, 2);
  EXPECT_BAD_INPUT(opened(file), "f.tokens: unknown version of token shards: expected 1, got 2");
}

TEST_F(TokenShards, notice_any_damage_to_the_header) {
  const std::string file = good();
  for (size_t at = 0; at < 64; ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = file;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      EXPECT_THROW(opened(damaged), Error) << "bit " << bit << " of byte " << at;
    }
  }
}

TEST_F(TokenShards, notice_any_damage_behind_the_header_when_they_are_verified) {
  const std::string file = good();
  for (size_t at = 64; at < file.size(); ++at) {
    std::string damaged = file;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    EXPECT_THROW(opened(damaged).verify(), Error) << "byte " << at;
  }
}

// Whoever opens a file gets a shard that is whole; nobody has to remember to check it.
TEST_F(TokenShards, of_a_damaged_file_are_refused_when_it_is_opened) {
  std::string damaged = good();
  damaged[70] = static_cast<char>(damaged[70] ^ 1);
  const std::filesystem::path bad = directory_.file("bad.tokens", damaged);
  try {
    const TokenShard shard(bad);
    FAIL() << "opened it";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::BadInput);
    EXPECT_TRUE(
        std::string(error.what()).starts_with(bad.string() + ": the file is damaged: expected checksum "))
        << error.what();
  }
}

TEST_F(TokenShards, cut_off_or_with_something_behind_are_refused) {
  const std::string file = good();
  for (size_t size = 64; size < file.size(); ++size)
    EXPECT_THROW(opened(file.substr(0, size)), Error) << size << " bytes";
  EXPECT_BAD_INPUT(opened(file + "x"),
                   "f.tokens: 14 tokens of 2 bytes in 4 documents do not make a file of this size: expected "
                   "128 bytes, got 129");
}

// Headers whose checksum is right and whose values are not.
struct BadHeader {
  const char* name;
  size_t offset;
  uint64_t value;
  size_t bytes;
  const char* message;
};

class BadShardHeader : public TokenShards, public testing::WithParamInterface<BadHeader> {};

TEST_P(BadShardHeader, is_refused) {
  std::string file = good();
  std::memcpy(file.data() + GetParam().offset, &GetParam().value, GetParam().bytes);
  seal_header(file);
  EXPECT_BAD_INPUT(opened(file), std::string("f.tokens: ") + GetParam().message);
}

constexpr uint64_t kHuge = ~uint64_t{0};
INSTANTIATE_TEST_SUITE_P(
    All, BadShardHeader,
    testing::Values(
        BadHeader{"width", 12, 3, 4, "bytes per token: expected 2 or 4, got 3"},
        BadHeader{"wide_file", 12, 4, 4,
                  "14 tokens of 4 bytes in 4 documents do not make a file of this size: expected 152 bytes, "
                  "got 128"},
        BadHeader{"no_vocabulary", 16, 0, 8, "vocabulary: expected 1 to 65536 at 2 bytes per token, got 0"},
        BadHeader{"large_vocabulary", 16, 65'537, 8,
                  "vocabulary: expected 1 to 65536 at 2 bytes per token, got 65537"},
        BadHeader{"tokens", 24, 15, 8, "tokens behind the last document: expected its end at 15, got 14"},
        BadHeader{"more_tokens", 24, 33, 8,
                  "more tokens than the file can hold: expected at most 32 in 128 bytes, got 33"},
        BadHeader{
            "huge_tokens", 24, kHuge, 8,
            "more tokens than the file can hold: expected at most 32 in 128 bytes, got 18446744073709551615"},
        BadHeader{"documents", 32, 3, 8,
                  "14 tokens of 2 bytes in 3 documents do not make a file of this size: expected 120 bytes, "
                  "got 128"},
        BadHeader{"huge_documents", 32, kHuge, 8,
                  "more documents than the file can hold: expected at most 8 in 128 bytes, got "
                  "18446744073709551615"},
        BadHeader{"text_bytes", 40, kHuge, 8, "the header has values that no program of this version writes"},
        BadHeader{"end_of_text", 48, 300, 4, "end-of-text id: expected below 300, got 300"}),
    [](const auto& test) { return test.param.name; });

TEST_F(TokenShards, with_document_ends_in_disorder_are_refused) {
  const std::string file = good();  // ends at 96: 4, 5, 7, 14
  const auto with_end = [&](size_t document, uint64_t end) {
    std::string changed = file;
    put_number(changed, 96 + document * 8, end);
    return changed;
  };
  EXPECT_BAD_INPUT(opened(with_end(0, 0)), "f.tokens: end of document 0: expected 1 to 14, got 0");
  EXPECT_BAD_INPUT(opened(with_end(1, 4)), "f.tokens: end of document 1: expected 5 to 14, got 4");
  EXPECT_BAD_INPUT(opened(with_end(1, kHuge)),
                   "f.tokens: end of document 1: expected 5 to 14, got 18446744073709551615");
  EXPECT_BAD_INPUT(opened(with_end(3, 15)), "f.tokens: end of document 3: expected 8 to 14, got 15");
  EXPECT_BAD_INPUT(opened(with_end(3, 13)),
                   "f.tokens: tokens behind the last document: expected its end at 14, got 13");
}

TEST_F(TokenShards, ids_outside_the_vocabulary_are_refused_where_they_are_read) {
  std::string file = good();
  put_number<uint16_t>(file, 64 + 5 * 2, 300);
  const TokenShard shard = opened(file);
  std::vector<TokenId> ids(4);
  EXPECT_NO_THROW(shard.read(0, ids));
  EXPECT_BAD_INPUT(shard.read(3, ids),
                   "f.tokens: token id in tokens 3 to 6: expected below the vocabulary, 300, got 300");
  EXPECT_THROW(shard.verify(), Error);
}

TEST_F(TokenShards, ids_beyond_any_vocabulary_are_refused_in_four_bytes) {
  write_shard(path(), kDocuments, {.vocabulary = 70'000, .end_of_text = 1});
  std::ifstream in(path(), std::ios::binary);
  std::string file{std::istreambuf_iterator<char>(in), {}};
  put_number<uint32_t>(file, 64, 0xffffffff);
  std::vector<TokenId> ids(1);
  EXPECT_BAD_INPUT(
      opened(file).read(0, ids),
      "f.tokens: token id in tokens 0 to 0: expected below the vocabulary, 70000, got 4294967295");
}

}  // namespace
}  // namespace sluice
