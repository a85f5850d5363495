#include "sluice/data/token_shard_header.h"

#include <fmt/format.h>
#include <zlib.h>

#include <bit>
#include <cstring>
#include <fstream>
#include <limits>
#include <string_view>

#include "sluice/base/error.h"

static_assert(std::endian::native == std::endian::little, "token shards are little endian");

namespace sluice {
namespace {

constexpr std::string_view kMagic = "SLUICTOK";
constexpr uint32_t kVersion = 1;
constexpr size_t kChecksumAt = 60;
constexpr uint64_t kNarrowVocabulary = 1 << 16;
constexpr uint64_t kMaxVocabulary = std::numeric_limits<TokenId>::max();
constexpr size_t kAlignment = 8;  // of the document ends

template <typename T>
T number_at(std::span<const std::byte> bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

template <typename T>
void put(ShardHeader& header, size_t offset, T value) {
  std::memcpy(header.data() + offset, &value, sizeof value);
}

void check_front(std::span<const std::byte> file, const std::string& name) {
  if (file.size() < kShardHeaderBytes || std::memcmp(file.data(), kMagic.data(), kMagic.size()) != 0) {
    throw bad_input(
        {.where = name,
         .what = "not a token shard",
         .expected = fmt::format("at least {} bytes that begin with {}", kShardHeaderBytes, kMagic),
         .got = fmt::format("{} bytes", file.size()),
         .hint = "sluice data tokenize makes one"});
  }
  const auto version = number_at<uint32_t>(file, 8);
  if (version != kVersion) {
    throw bad_input({.where = name,
                     .what = "unknown version of token shards",
                     .expected = std::to_string(kVersion),
                     .got = std::to_string(version)});
  }
  const auto stored = number_at<uint32_t>(file, kChecksumAt);
  const uint32_t actual = shard_checksum(0, file.first(kChecksumAt));
  if (stored != actual) {
    throw bad_input({.where = name,
                     .what = "the header is damaged",
                     .expected = fmt::format("checksum {:08x}", stored),
                     .got = fmt::format("{:08x}", actual)});
  }
}

void check_vocabulary(uint32_t width, uint64_t vocabulary, uint32_t end_of_text, const std::string& name) {
  if (width != 2 && width != 4) {
    throw bad_input(
        {.where = name, .what = "bytes per token", .expected = "2 or 4", .got = std::to_string(width)});
  }
  const uint64_t most = width == 2 ? kNarrowVocabulary : kMaxVocabulary;
  if (vocabulary == 0 || vocabulary > most) {
    throw bad_input({.where = name,
                     .what = "vocabulary",
                     .expected = fmt::format("1 to {} at {} bytes per token", most, width),
                     .got = std::to_string(vocabulary)});
  }
  if (end_of_text >= vocabulary) {
    throw bad_input({.where = name,
                     .what = "end-of-text id",
                     .expected = fmt::format("below {}", vocabulary),
                     .got = std::to_string(end_of_text)});
  }
}

// Counts first against what the file could hold at all, so that no product below can overflow.
void check_counts(uint64_t width, uint64_t tokens, uint64_t documents, size_t size, const std::string& name) {
  const auto check = [&](const char* what, uint64_t count, uint64_t each) {
    const uint64_t most = (size - kShardHeaderBytes) / each;
    if (count <= most) return;
    throw bad_input({.where = name,
                     .what = fmt::format("more {} than the file can hold", what),
                     .expected = fmt::format("at most {} in {} bytes", most, size),
                     .got = std::to_string(count)});
  };
  check("tokens", tokens, width);
  check("documents", documents, sizeof(uint64_t));
}

void check_size(const TokenShardInfo& info, size_t size, const std::string& name) {
  const size_t expected = shard_document_ends(info) + static_cast<size_t>(info.documents) * sizeof(uint64_t);
  if (expected == size) return;
  throw bad_input(
      {.where = name,
       .what = fmt::format("{} tokens of {} bytes in {} documents do not make a file of this size",
                           info.tokens, info.width, info.documents),
       .expected = fmt::format("{} bytes", expected),
       .got = std::to_string(size)});
}

}  // namespace

ShardHeader write_shard_header(const TokenShardInfo& info) {
  ShardHeader header = {};
  std::memcpy(header.data(), kMagic.data(), kMagic.size());
  put(header, 8, kVersion);
  put(header, 12, static_cast<uint32_t>(info.width));
  put(header, 16, static_cast<uint64_t>(info.vocabulary));
  put(header, 24, static_cast<uint64_t>(info.tokens));
  put(header, 32, static_cast<uint64_t>(info.documents));
  put(header, 40, static_cast<uint64_t>(info.text_bytes));
  put(header, 48, static_cast<uint32_t>(info.end_of_text));
  put(header, 52, info.checksum);
  put(header, 56, info.tokenizer);
  put(header, kChecksumAt, shard_checksum(0, std::span(header).first(kChecksumAt)));
  return header;
}

TokenShardInfo read_shard_header(std::span<const std::byte> file, const std::string& name) {
  check_front(file, name);
  const auto width = number_at<uint32_t>(file, 12);
  const auto vocabulary = number_at<uint64_t>(file, 16);
  const auto tokens = number_at<uint64_t>(file, 24);
  const auto documents = number_at<uint64_t>(file, 32);
  const auto text_bytes = number_at<uint64_t>(file, 40);
  const auto end_of_text = number_at<uint32_t>(file, 48);
  check_vocabulary(width, vocabulary, end_of_text, name);
  check_counts(width, tokens, documents, file.size(), name);
  if (text_bytes > std::numeric_limits<int64_t>::max())
    throw bad_input({.where = name, .what = "the header has values that no program of this version writes"});
  const TokenShardInfo info{.width = width,
                            .vocabulary = static_cast<int64_t>(vocabulary),
                            .tokens = static_cast<int64_t>(tokens),
                            .documents = static_cast<int64_t>(documents),
                            .text_bytes = static_cast<int64_t>(text_bytes),
                            .end_of_text = static_cast<TokenId>(end_of_text),
                            .checksum = number_at<uint32_t>(file, 52),
                            .tokenizer = number_at<uint32_t>(file, 56)};
  check_size(info, file.size(), name);
  return info;
}

int64_t shard_token_width(int64_t vocabulary) {
  return static_cast<uint64_t>(vocabulary) <= kNarrowVocabulary ? 2 : 4;
}

size_t shard_document_ends(const TokenShardInfo& info) {
  const size_t end = kShardHeaderBytes + static_cast<size_t>(info.tokens * info.width);
  return (end + kAlignment - 1) / kAlignment * kAlignment;
}

uint32_t shard_checksum(uint32_t before, std::span<const std::byte> bytes) {
  if (bytes.empty()) return before;  // a null pointer means "start anew" to zlib
  return static_cast<uint32_t>(crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

bool is_token_shard(const std::filesystem::path& path) {
  std::error_code unknown;
  // A pipe would lose what is read of it here.
  if (!std::filesystem::is_regular_file(path, unknown)) return false;
  std::array<char, kMagic.size()> start = {};
  std::ifstream(path, std::ios::binary).read(start.data(), start.size());
  return std::string_view(start.data(), start.size()) == kMagic;
}

}  // namespace sluice
