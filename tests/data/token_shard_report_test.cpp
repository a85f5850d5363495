#include "sluice/data/token_shard_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sluice/data/token_shard_writer.h"
#include "tests/base/temporary_directory.h"

namespace sluice {
namespace {

TEST(TokenShardReport, tells_the_shortest_and_the_longest_document) {
  TemporaryDirectory directory;
  const std::filesystem::path path = directory.path() / "s.tokens";
  TokenShardWriter writer(path, {.vocabulary = 300, .end_of_text = 0, .tokenizer = 0xbeef});
  writer.add(std::vector<TokenId>{1, 2, 299}, 5);
  writer.add(std::vector<TokenId>{7}, 1);
  const TokenShardInfo info = writer.commit();
  auto expected = nlohmann::ordered_json::parse(R"({
    "path": "", "tokens": 6, "documents": 2, "vocabulary": 300, "end_of_text": 0, "bytes_per_token": 2,
    "text_bytes": 6, "tokenizer_fingerprint": "0000beef"})");
  expected["path"] = path.string();
  EXPECT_EQ(to_json(WrittenTokenShard{path, info}), expected);
  expected["shortest_document"] = 2;  // with the token that ends it
  expected["longest_document"] = 4;
  EXPECT_EQ(to_json(check_token_shard(path)), expected);
}

}  // namespace
}  // namespace sluice
