#include "sluice/data/token_shard_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sluice/text/tokenizer.h"

namespace sluice {
namespace {

nlohmann::ordered_json fingerprint_json(const TokenShardInfo& info) {
  if (info.tokenizer == 0) return nullptr;
  return fingerprint_text(info.tokenizer);
}

}  // namespace

CheckedTokenShard check_token_shard(const std::filesystem::path& path) {
  const TokenShard shard(path);
  CheckedTokenShard checked{.path = path, .info = shard.info(), .shortest = shard.info().tokens};
  for (int64_t i = 0; i < shard.info().documents; ++i) {
    const int64_t size = shard.document(i).size();
    checked.shortest = std::min(checked.shortest, size);
    checked.longest = std::max(checked.longest, size);
  }
  return checked;
}

nlohmann::ordered_json to_json(const WrittenTokenShard& shard) {
  const TokenShardInfo& info = shard.info;
  return {{"path", shard.path.string()},     {"tokens", info.tokens},
          {"documents", info.documents},     {"vocabulary", info.vocabulary},
          {"end_of_text", info.end_of_text}, {"bytes_per_token", info.width},
          {"text_bytes", info.text_bytes},   {"tokenizer_fingerprint", fingerprint_json(info)}};
}

nlohmann::ordered_json to_json(const CheckedTokenShard& shard) {
  nlohmann::ordered_json json = to_json(WrittenTokenShard{shard.path, shard.info});
  json["shortest_document"] = shard.shortest;
  json["longest_document"] = shard.longest;
  return json;
}

std::string to_text(const WrittenTokenShard& shard) {
  const TokenShardInfo& info = shard.info;
  return fmt::format("{}: {} tokens in {} documents, from {} bytes of text\n", shard.path.string(),
                     info.tokens, info.documents, info.text_bytes);
}

std::string to_text(const CheckedTokenShard& shard) {
  const TokenShardInfo& info = shard.info;
  return fmt::format("tokens          {} of {} bytes each\n", info.tokens, info.width) +
         fmt::format("documents       {}, of {} to {} tokens\n", info.documents, shard.shortest,
                     shard.longest) +
         fmt::format("vocabulary      {}; documents end with {}\n", info.vocabulary, info.end_of_text) +
         fmt::format("tokenizer       {}\n",
                     info.tokenizer == 0 ? "not known" : fingerprint_text(info.tokenizer)) +
         fmt::format("text            {} bytes\n", info.text_bytes) + "checksum        right\n";
}

}  // namespace sluice
