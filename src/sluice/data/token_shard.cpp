#include "sluice/data/token_shard.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "sluice/base/assert.h"
#include "sluice/base/error.h"
#include "sluice/base/interrupt.h"
#include "sluice/data/token_shard_header.h"

namespace sluice {
namespace {

constexpr size_t kVerifyStep = size_t{1} << 20;  // bytes or tokens between two looks for Ctrl-C

uint64_t document_end(std::span<const std::byte> ends, int64_t index) {
  uint64_t end = 0;
  std::memcpy(&end, ends.data() + static_cast<size_t>(index) * sizeof end, sizeof end);
  return end;
}

// The largest id, as stored.
template <typename Stored>
uint32_t widen(const std::byte* from, std::span<TokenId> out) {
  uint32_t largest = 0;
  for (size_t i = 0; i < out.size(); ++i) {
    Stored id = 0;
    std::memcpy(&id, from + i * sizeof id, sizeof id);  // bytes of a caller may lie anywhere
    largest = std::max<uint32_t>(largest, id);
    out[i] = static_cast<TokenId>(id);
  }
  return largest;
}

}  // namespace

TokenShard::TokenShard(const std::filesystem::path& path)
    : TokenShard(std::make_shared<const MappedFile>(path), path.string()) {}

TokenShard::TokenShard(std::shared_ptr<const MappedFile> file, std::string name)
    : file_(std::move(file)),
      bytes_(file_->bytes()),
      name_(std::move(name)),
      info_(read_shard_header(bytes_, name_)) {
  check_document_ends();
  verify();
}

TokenShard::TokenShard(std::span<const std::byte> bytes, std::string name)
    : bytes_(bytes), name_(std::move(name)), info_(read_shard_header(bytes_, name_)) {
  check_document_ends();
}

void TokenShard::check_document_ends() const {
  const auto ends = bytes_.subspan(shard_document_ends(info_));
  uint64_t last = 0;
  for (int64_t i = 0; i < info_.documents; ++i) {
    const uint64_t end = document_end(ends, i);
    if (end <= last || end > static_cast<uint64_t>(info_.tokens)) {
      throw bad_input({.where = name_,
                       .what = fmt::format("end of document {}", i),
                       .expected = fmt::format("{} to {}", last + 1, info_.tokens),
                       .got = std::to_string(end)});
    }
    last = end;
  }
  if (last != static_cast<uint64_t>(info_.tokens)) {
    throw bad_input({.where = name_,
                     .what = "tokens behind the last document",
                     .expected = fmt::format("its end at {}", info_.tokens),
                     .got = std::to_string(last)});
  }
}

Range TokenShard::document(int64_t index) const {
  SLUICE_ASSERT(index >= 0 && index < info_.documents, "TokenShard::document: {} of {}", index,
                info_.documents);
  const auto ends = bytes_.subspan(shard_document_ends(info_));
  const uint64_t begin = index == 0 ? 0 : document_end(ends, index - 1);
  return {static_cast<int64_t>(begin), static_cast<int64_t>(document_end(ends, index))};
}

void TokenShard::read(int64_t begin, std::span<TokenId> out) const {
  SLUICE_ASSERT(begin >= 0 && begin + static_cast<int64_t>(out.size()) <= info_.tokens,
                "TokenShard::read: {} tokens from {} of {}", out.size(), begin, info_.tokens);
  const std::byte* from = bytes_.data() + kShardHeaderBytes + static_cast<size_t>(begin * info_.width);
  const uint32_t largest = info_.width == 2 ? widen<uint16_t>(from, out) : widen<uint32_t>(from, out);
  if (largest < static_cast<uint64_t>(info_.vocabulary)) return;
  throw bad_input({.where = name_,
                   .what = fmt::format("token id in tokens {} to {}", begin,
                                       begin + static_cast<int64_t>(out.size()) - 1),
                   .expected = fmt::format("below the vocabulary, {}", info_.vocabulary),
                   .got = std::to_string(largest)});
}

void TokenShard::verify() const {
  uint32_t checksum = 0;
  for (auto rest = bytes_.subspan(kShardHeaderBytes); !rest.empty();) {
    throw_if_interrupted();
    const auto part = rest.first(std::min(rest.size(), kVerifyStep));
    checksum = shard_checksum(checksum, part);
    rest = rest.subspan(part.size());
  }
  if (checksum != info_.checksum) {
    throw bad_input({.where = name_,
                     .what = "the file is damaged",
                     .expected = fmt::format("checksum {:08x}", info_.checksum),
                     .got = fmt::format("{:08x}", checksum)});
  }
  std::vector<TokenId> ids(std::min(static_cast<size_t>(info_.tokens), kVerifyStep));
  for (int64_t at = 0; at < info_.tokens; at += static_cast<int64_t>(ids.size())) {
    throw_if_interrupted();
    ids.resize(std::min(ids.size(), static_cast<size_t>(info_.tokens - at)));
    read(at, ids);
  }
}

}  // namespace sluice
