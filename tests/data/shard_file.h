// Token shards for tests: a whole one, and its bytes to damage.
#pragma once

#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "sluice/data/token_shard_header.h"
#include "sluice/data/token_shard_writer.h"
#include "tests/base/temporary_directory.h"

namespace sluice {

using Documents = std::vector<std::vector<TokenId>>;

inline TokenShardInfo write_shard(const std::filesystem::path& path, const Documents& documents,
                                  const TokenShardWriter::Options& options) {
  TokenShardWriter writer(path, options);
  for (const auto& document : documents) writer.add(document, document.size());
  return writer.commit();
}

// Documents as a shard has them, their ends included.
inline Documents documents_of(const TokenShard& shard) {
  Documents documents;
  for (int64_t i = 0; i < shard.info().documents; ++i) {
    const Range range = shard.document(i);
    documents.emplace_back(static_cast<size_t>(range.size()));
    shard.read(range.begin, documents.back());
  }
  return documents;
}

// Puts a number into the bytes of a file.
template <typename T>
void put_number(std::string& file, size_t offset, T value) {
  std::memcpy(file.data() + offset, &value, sizeof value);
}

// What a writer of nonsense would do: the checksum of the header is right.
inline void seal_header(std::string& file) {
  put_number(file, 60, shard_checksum(0, std::as_bytes(std::span(file)).first(60)));
}

}  // namespace sluice
