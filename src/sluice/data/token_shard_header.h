// The first 64 bytes of a token shard; data/token_shard.h has the layout.
#pragma once

#include <array>

#include "sluice/data/token_shard.h"

namespace sluice {

constexpr size_t kShardHeaderBytes = 64;

using ShardHeader = std::array<std::byte, kShardHeaderBytes>;

ShardHeader write_shard_header(const TokenShardInfo& info);

// Of a whole file. Bad input, named `name`, unless the header is undamaged and the file as long as it says.
TokenShardInfo read_shard_header(std::span<const std::byte> file, const std::string& name);

// 2 bytes if all ids fit.
int64_t shard_token_width(int64_t vocabulary);

// Where the document ends begin; the header is consistent.
size_t shard_document_ends(const TokenShardInfo& info);

// Of bytes that come in pieces: each call takes the result of the last, the first 0.
uint32_t shard_checksum(uint32_t before, std::span<const std::byte> bytes);

}  // namespace sluice
