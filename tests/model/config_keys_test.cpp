#include "sluice/model/config_keys.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "sluice/base/file.h"
#include "sluice/model/config_reader.h"
#include "tests/base/expect_error.h"

namespace sluice {
namespace {

Json config_with(const std::string& key, const std::string& value) {
  return Json::parse(R"({"model_type": "llama", "vocab_size": 100, "hidden_size": 32, "intermediate_size": 64,
      "num_hidden_layers": 3, "num_attention_heads": 4, ")" +
                         key + "\": " + value + "}",
                     "c.json");
}

// Rows of docs/models.md between its two marks: `key`, `key` | what happens, whose first word is one of
// three.
std::map<std::string, std::string> documented_keys() {
  const std::string text =
      read_text(std::filesystem::path(SLUICE_SOURCE_DIR) / "docs/models.md", size_t{1} << 20);
  const size_t begin = text.find("<!-- keys -->"), end = text.find("<!-- end of keys -->");
  EXPECT_NE(end, std::string::npos);
  std::map<std::string, std::string> keys;
  std::istringstream lines(text.substr(begin, end - begin));
  const std::regex row(R"(\| (`.*`) \|[^|]*\| (read|must be|ignored).*\|)"), name("`([^`]+)`");
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (!std::regex_match(line, match, row)) continue;
    const std::string names = match[1];
    for (std::sregex_iterator each(names.begin(), names.end(), name), last; each != last; ++each)
      EXPECT_TRUE(keys.emplace((*each)[1], match[2]).second) << (*each)[1] << " is there twice";
  }
  return keys;
}

TEST(ConfigKeys, are_all_in_the_documentation_with_what_happens_to_them) {
  const std::map<KeyUse, std::string> words = {
      {KeyUse::Read, "read"}, {KeyUse::Fixed, "must be"}, {KeyUse::Ignored, "ignored"}};
  std::map<std::string, std::string> known;
  for (const ConfigKey& key : config_keys())
    EXPECT_TRUE(known.emplace(key.name, words.at(key.use)).second) << key.name << " is there twice";
  EXPECT_EQ(documented_keys(), known);
}

TEST(ConfigKeys, that_change_the_computation_are_refused_by_name) {
  for (const ConfigKey& key : config_keys()) {
    if (key.use != KeyUse::Fixed) continue;
    const std::string name(key.name);
    for (const std::string& neutral : {std::string("null"), std::string(key.neutral)})
      EXPECT_NO_THROW(read_model_config(config_with(name, neutral))) << name << ": " << neutral;
    EXPECT_BAD_INPUT(read_model_config(config_with(name, "50.5")),
                     "c.json: " + name + ": expected " + std::string(key.neutral) +
                         ", got 50.5 (another value changes the computation)");
  }
}

TEST(ConfigKeys, without_a_meaning_may_have_any_value) {
  for (const ConfigKey& key : config_keys()) {
    if (key.use == KeyUse::Ignored) {
      EXPECT_NO_THROW(read_model_config(config_with(std::string(key.name), R"(["anything"])"))) << key.name;
    }
  }
}

// A row that says "read" of a key that nobody reads would be a promise that is not kept.
TEST(ConfigKeys, that_are_read_are_refused_if_they_make_no_sense) {
  for (const ConfigKey& key : config_keys()) {
    if (key.use != KeyUse::Read) continue;
    nlohmann::json config = config_with("attention_bias", "false").node();
    config["use_sliding_window"] = true;  // else nobody asks where windows begin
    config["sliding_window"] = 1 << 20;
    config["num_experts"] = 4;
    config["num_experts_per_tok"] = 2;
    config["moe_intermediate_size"] = 8;
    config["rope_scaling"] = {{"rope_type", "linear"}, {"factor", 2}};
    config["full_attention_interval"] = 1;
    EXPECT_NO_THROW(read_model_config(Json::parse(config.dump(), "c.json")));
    config[std::string(key.name)] = {{"no", "sense"}};
    EXPECT_THROW(read_model_config(Json::parse(config.dump(), "c.json")), Error) << key.name;
  }
}

TEST(ConfigKeys, that_nobody_knows_are_told_and_not_refused) {
  const Json json = config_with("unsloth_version", "\"2026.1\"");
  EXPECT_NO_THROW(read_model_config(json));
  EXPECT_EQ(unknown_config_keys(json), std::vector<std::string>{"unsloth_version"});
  EXPECT_TRUE(unknown_config_keys(config_with("use_cache", "true")).empty());
}

TEST(ConfigKeys, that_are_misspelt_are_refused) {
  EXPECT_BAD_INPUT(read_model_config(config_with("rms_norm_epss", "1e-5")),
                   "c.json: rms_norm_epss: unknown key (did you mean \"rms_norm_eps\"?)");
}

}  // namespace
}  // namespace sluice
