// Every kind of rope scaling against values that a script of its own computed (tools/reference).
#include "sluice/model/rope.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sluice/model/config_reader.h"

namespace sluice {
namespace {

Json goldens() {
  return Json::load(std::filesystem::path(SLUICE_SOURCE_DIR) / "tests/golden/rope/scaling.json");
}

TEST(RopeScaling, has_the_reference_values_for_every_length) {
  size_t count = 0;
  for (const Json& each : goldens().at("cases").array()) {
    const ModelConfig config = read_model_config(each.at("config"));
    for (const Json& expected : each.at("expected").array()) {
      SCOPED_TRACE(each.text("name") + " at " + std::to_string(expected.integer("length")));
      const RopeTableOptions options = rope_options(config, 0, expected.integer("length"));
      const std::vector<Json> frequencies = expected.at("frequencies").array();
      ASSERT_EQ(options.frequencies.size(), frequencies.size());
      EXPECT_NEAR(options.amplitude, expected.number("amplitude"), 1e-12);
      for (size_t c = 0; c < frequencies.size(); ++c)
        EXPECT_NEAR(options.frequencies[c] / frequencies[c].number(), 1.0, 1e-12) << "pair " << c;
      ++count;
    }
  }
  EXPECT_EQ(count, 25U);
}

TEST(RopeScaling, of_one_pass_and_of_a_sequence_that_grows_go_by_the_length_so_far) {
  for (const Json& each : goldens().at("cases").array()) {
    const ModelConfig config = read_model_config(each.at("config"));
    const RopeTableOptions whole = rope_options(config, 0, 5000), last = rope_options(config, 4999, 1);
    EXPECT_EQ(whole.frequencies, last.frequencies) << each.text("name");
    EXPECT_EQ(last.first_position, 4999);
    EXPECT_EQ(last.positions, 1);
  }
}

TEST(RopeScaling, is_finite_for_a_model_of_one_position) {
  const Json json = Json::parse(R"({"model_type": "llama", "vocab_size": 8, "hidden_size": 8,
      "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "max_position_embeddings": 1,
      "rope_scaling": {"type": "su", "factor": 4, "short_factor": [1, 1], "long_factor": [2, 2]}})",
                                "c.json");
  EXPECT_EQ(rope_options(read_model_config(json), 0, 8).amplitude, 1.0);
}

}  // namespace
}  // namespace sluice
