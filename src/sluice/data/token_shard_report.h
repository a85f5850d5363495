// The figures of a token shard, for a person and for programs.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sluice/data/token_shard.h"

namespace sluice {

struct WrittenTokenShard {
  std::filesystem::path path;
  TokenShardInfo info;
};

struct CheckedTokenShard {
  std::filesystem::path path;
  TokenShardInfo info;
  int64_t shortest = 0, longest = 0;  // documents, in tokens
};

// Reads the whole file: bad input if it is damaged.
CheckedTokenShard check_token_shard(const std::filesystem::path& path);

nlohmann::ordered_json to_json(const WrittenTokenShard& shard);
nlohmann::ordered_json to_json(const CheckedTokenShard& shard);
std::string to_text(const WrittenTokenShard& shard);
std::string to_text(const CheckedTokenShard& shard);

}  // namespace sluice
