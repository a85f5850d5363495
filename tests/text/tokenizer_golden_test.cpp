// Tokens that the reference library made, for published tokenizers. They are not part of the repository.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "sluice/base/json.h"
#include "sluice/text/nfc.h"
#include "sluice/text/tokenizer.h"

namespace sluice::test {
namespace {

namespace fs = std::filesystem;

class TokenizerGolden : public testing::TestWithParam<const char*> {};

TEST_P(TokenizerGolden, encodes_and_decodes_every_line) {
  const fs::path shared = fs::path(SLUICE_SOURCE_DIR) / "../shared";
  const std::string name = GetParam();
  const fs::path golden = shared / "golden/tokenizers" / (name + ".jsonl");
  if (!fs::exists(golden)) GTEST_SKIP() << "needs ../shared, which is not here: " << golden;
  const Tokenizer tokenizer = Tokenizer::load(shared / "data/tokenizers" / name / "tokenizer.json");
  std::ifstream file(golden);
  int count = 0;
  for (std::string line; std::getline(file, line); ++count) {
    const Json json = Json::parse(line, golden.string());
    const std::string text = json.text("text");
    std::vector<TokenId> ids;
    for (const Json& id : json.at("ids").array()) ids.push_back(static_cast<TokenId>(id.integer()));
    EXPECT_EQ(tokenizer.encode(text), ids) << line;
    EXPECT_EQ(to_nfc(tokenizer.decode(ids)), to_nfc(text)) << line;
  }
  EXPECT_GT(count, 100);
}

INSTANTIATE_TEST_SUITE_P(Published, TokenizerGolden, testing::Values("gpt2", "qwen3"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace sluice::test
