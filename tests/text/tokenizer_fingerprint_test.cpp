// The fingerprint is of what a tokenizer does, not of how its file is written.
#include <gtest/gtest.h>

#include "sluice/text/tokenizer_writer.h"
#include "tests/text/small_tokenizer.h"

namespace sluice {
namespace {

using nlohmann::json;

const json kFile =
    test::with_added(test::small_file({{"a", "b"}, {"c", "d"}}), {test::added_token(258, "<|x|>")});

uint32_t fingerprint(const json& file) {
  return test::read(file).fingerprint();
}

TEST(TokenizerFingerprint, is_the_same_for_the_same_content_in_other_words) {
  json file = kFile;
  file["model"]["merges"] = json::array({json::array({"a", "b"}), json::array({"c", "d"})});
  file["post_processor"] = nullptr;
  file["model"]["fuse_unk"] = true;
  EXPECT_EQ(fingerprint(file), fingerprint(kFile));
}

TEST(TokenizerFingerprint, of_bytes_is_the_same_from_the_file_that_runs_get) {
  EXPECT_EQ(Tokenizer::read(Json::parse(byte_tokenizer_json(), "t.json")).fingerprint(),
            Tokenizer::bytes().fingerprint());
}

TEST(TokenizerFingerprint, changes_with_everything_that_changes_the_ids) {
  const std::vector<std::pair<std::string, std::function<void(json&)>>> changes = {
      {"ids of two tokens",
       [](json& file) { std::swap(file["model"]["vocab"]["ab"], file["model"]["vocab"]["cd"]); }},
      {"order of merges",
       [](json& file) { std::swap(file["model"]["merges"][0], file["model"]["merges"][1]); }},
      {"a merge less", [](json& file) { file["model"]["merges"].erase(1); }},
      {"ignore_merges", [](json& file) { file["model"]["ignore_merges"] = true; }},
      {"name of an added token", [](json& file) { file["added_tokens"][0]["content"] = "<|y|>"; }},
      {"kind of an added token", [](json& file) { file["added_tokens"][0]["special"] = false; }},
      {"white space beside it", [](json& file) { file["added_tokens"][0]["lstrip"] = true; }},
      {"normalisation",
       [](json& file) {
         file["normalizer"] = {{"type", "NFC"}};
       }},
      {"a pattern", [](json& file) { file = test::with_splits(file, {test::split("a+")}); }},
      {"another pattern", [](json& file) { file = test::with_splits(file, {test::split("b+")}); }},
      {"the final split", [](json& file) { file["pre_tokenizer"]["use_regex"] = true; }},
      {"a space in front", [](json& file) { file["pre_tokenizer"]["add_prefix_space"] = true; }}};
  std::map<uint32_t, std::string> seen = {{fingerprint(kFile), "nothing"}};
  for (const auto& [name, change] : changes) {
    json file = kFile;
    change(file);
    const auto [at, is_new] = seen.emplace(fingerprint(file), name);
    EXPECT_TRUE(is_new) << name << " gives the fingerprint of " << at->second;
  }
}

}  // namespace
}  // namespace sluice
