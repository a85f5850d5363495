#include "sluice/model/count.h"

#include <gtest/gtest.h>

#include "sluice/model/config_reader.h"

namespace sluice {
namespace {

ModelConfig preset(const std::string& name) {
  return load_model_config(std::filesystem::path(SLUICE_SOURCE_DIR) / "configs/models" / (name + ".json"));
}

TEST(CountParameters, gives_the_published_totals) {
  EXPECT_EQ(count_parameters(preset("1b-baseline")).total(), 1'720'837'120);
  EXPECT_EQ(count_parameters(preset("1b-elementwise")).total(), 1'728'177'152);
  EXPECT_EQ(count_parameters(preset("1b-headwise")).total(), 1'721'754'624);
  EXPECT_EQ(count_parameters(preset("51m-elementwise")).total(), 50'960'896);
}

// The paper's table 1, 15A2B model: millions of parameters that each gate adds.
TEST(CountParameters, gives_what_gates_add_in_the_paper) {
  const ModelConfig moe{.vocabulary = 152064,
                        .hidden = 2048,
                        .layers = 24,
                        .heads = 32,
                        .kv_heads = 4,
                        .head_dim = 128,
                        .moe = MoeConfig{.experts = 128, .experts_per_token = 8, .expert_width = 768}};
  const auto added = [&](GatePosition position, Granularity granularity) {
    ModelConfig gated = moe;
    gated.gates = {{.position = position, .form = {.granularity = granularity}}};
    return count_parameters(gated).gates;
  };
  EXPECT_EQ(added(GatePosition::G1, Granularity::Elementwise), 201'326'592);
  EXPECT_EQ(added(GatePosition::G4, Granularity::Elementwise), 201'326'592);
  EXPECT_EQ(added(GatePosition::G2, Granularity::Elementwise), 25'165'824);
  EXPECT_EQ(added(GatePosition::G3, Granularity::Elementwise), 25'165'824);
  EXPECT_EQ(added(GatePosition::G5, Granularity::Elementwise), 100'663'296);
  EXPECT_EQ(added(GatePosition::G1, Granularity::Headwise), 1'572'864);
  EXPECT_EQ(added(GatePosition::G2, Granularity::Headwise), 196'608);
}

TEST(CountParameters, leaves_out_experts_that_a_token_does_not_use) {
  ModelConfig config{.vocabulary = 10, .hidden = 4, .layers = 2, .heads = 1, .kv_heads = 1, .head_dim = 4};
  config.moe = MoeConfig{.experts = 8, .experts_per_token = 3, .expert_width = 5};
  const ParameterCount count = count_parameters(config);
  EXPECT_EQ(count.feed_forward, 2 * 8 * 3 * 4 * 5);
  EXPECT_EQ(count.router, 2 * 4 * 8);
  EXPECT_EQ(count.total() - count.active(), 2 * 5 * 3 * 4 * 5);
}

TEST(CountParameters, counts_gates_by_layer_input_and_bias) {
  ModelConfig config{.vocabulary = 10, .hidden = 8, .layers = 3, .heads = 4, .kv_heads = 2, .head_dim = 2};
  config.gates = {{.position = GatePosition::G1, .layers = {0, 2}, .bias = true},
                  {.position = GatePosition::G2, .input = GateInput::Constant},
                  {.position = GatePosition::G3, .input = GateInput::Truncated, .channels = 5}};
  EXPECT_EQ(count_parameters(config).gates, 2 * (8 * 8 + 8) + 3 * 4 + 3 * 4 * 5);
  EXPECT_EQ(count_flops(config).gates, 2 * (2 * 8 * 8 + 3 * 4 * 5));
}

TEST(CountFlops, counts_two_per_weight_and_the_head_even_if_tied) {
  ModelConfig config{.vocabulary = 10, .hidden = 4, .layers = 1, .heads = 2, .kv_heads = 1, .head_dim = 2};
  config.feed_forward = 6;
  config.tied = true;
  EXPECT_EQ(count_flops(config).products, 2 * (4 * (4 + 4 + 2 + 2) + 3 * 4 * 6 + 10 * 4));
  EXPECT_EQ(count_flops(config).per_context_token, 4 * 1 * 2 * 2);
}

}  // namespace
}  // namespace sluice
