// What the parts of the data command share.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sluice/cli/command.h"
#include "sluice/cli/text_format_option.h"
#include "sluice/data/token_shard.h"

namespace sluice::cli {

struct DataOptions {
  std::string action;
  std::vector<std::string> files, kinds;
  std::optional<std::string> out, end_of_text;
  TextFormatOption format;
  std::optional<std::int64_t> bytes, documents, seed;
};

void synthesise(const DataOptions& options, const Session& session);
void tokenize(const DataOptions& options, const Session& session);

// The figures of a shard, for tokenize and info.
nlohmann::ordered_json shard_json(const std::string& path, const TokenShardInfo& info);

}  // namespace sluice::cli
