#include "sluice/model/config_reader.h"

#include <gtest/gtest.h>

#include "tests/base/expect_error.h"
#include "tests/base/temporary_directory.h"

namespace sluice {
namespace {

// A small valid configuration; `extra` is appended, e.g. R"(, "head_dim": 4)".
ModelConfig read(const std::string& extra, const std::string& model_type = "qwen3") {
  return read_model_config(Json::parse(
      R"({"vocab_size": 100, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 3,
          "num_attention_heads": 4, "num_key_value_heads": 2, "model_type": ")" +
          model_type + "\"" + extra + "}",
      "c.json"));
}

TEST(ModelConfig, has_the_defaults_of_its_family) {
  const ModelConfig qwen3 = read("");
  EXPECT_EQ(qwen3.head_dim, 8);
  EXPECT_EQ(qwen3.rotary, 8);
  EXPECT_TRUE(qwen3.qk_norm);
  EXPECT_FALSE(qwen3.qkv_bias);
  EXPECT_TRUE(qwen3.gates.empty());
  EXPECT_FALSE(read("", "llama").qk_norm);
  EXPECT_TRUE(read("", "qwen2").qkv_bias);
  EXPECT_FALSE(read("", "qwen2").o_bias);
  const ModelConfig next = read(R"(, "head_dim": 16)", "qwen3_next");
  EXPECT_EQ(next.rotary, 4);
  EXPECT_EQ(next.norm_style, WeightStyle::OnePlus);
  EXPECT_EQ(next.gate_layout, GateLayout::PackedPerHead);
}

TEST(ModelConfig, reads_the_official_flags_headwise_first) {
  const ModelConfig both =
      read(R"(, "headwise_attn_output_gate": true, "elementwise_attn_output_gate": true)");
  ASSERT_EQ(both.gates.size(), 1U);
  EXPECT_EQ(both.gate_layout, GateLayout::PackedPerGroup);
  EXPECT_EQ(both.gates[0].form.granularity, Granularity::Headwise);
  const ModelConfig elementwise = read(R"(, "elementwise_attn_output_gate": true)");
  EXPECT_EQ(elementwise.gates[0].form.granularity, Granularity::Elementwise);
}

TEST(ModelConfig, refuses_a_start_of_a_bias_that_is_not_there) {
  EXPECT_BAD_INPUT(read(R"(, "gates": [{"position": "g1", "bias_init": 2}])"),
                   "c.json: gates[0].bias_init: expected 0 without a bias, got 2 (\"bias\": true gives the "
                   "gate one)");
  EXPECT_BAD_INPUT(read(R"(, "gates": [{"position": "g1", "bias": true, "bias_init": 1e30}])"),
                   "c.json: gates[0].bias_init: expected number from -100 to 100, got 1e+30");
  EXPECT_EQ(
      read(R"(, "gates": [{"position": "g1", "input": "constant", "bias_init": 2}])").gates[0].bias_init, 2)
      << "a constant is its own bias";
}

TEST(ModelConfig, reads_a_list_of_gates) {
  const ModelConfig config = read(R"(, "gates": [
      {"position": "g1", "granularity": "headwise", "activation": "ns_sigmoid", "layers": [0, 2], "bias": true,
       "bias_init": -2},
      {"position": "g4", "sharing": "shared", "mode": "add", "input": "truncated", "channels": 12,
       "order": "before_norm"},
      {"position": "g5", "input": "constant"}])");
  EXPECT_EQ(config.gate_layout, GateLayout::Separate);
  ASSERT_EQ(config.gates.size(), 3U);
  EXPECT_EQ(config.gates[0].form.activation, Activation::NsSigmoid);
  EXPECT_EQ(config.gates[0].bias_init, -2.0);
  EXPECT_TRUE(config.gates[0].in_layer(2));
  EXPECT_FALSE(config.gates[0].in_layer(1));
  EXPECT_EQ(config.gates[1].channels, 12);
  EXPECT_EQ(config.gates[1].order, GateOrder::BeforeNorm);
  EXPECT_EQ(config.gates[2].init_std, 0.0) << "constant gates start at zero";
}

TEST(ModelConfig, reads_rope_scaling) {
  const RopeScaling yarn =
      read(R"(, "rope_scaling": {"rope_type": "yarn", "factor": 4, "original_max_position_embeddings": 64})")
          .rope_scaling;
  EXPECT_EQ(yarn.kind, RopeScalingKind::Yarn);
  EXPECT_EQ(yarn.factor, 4.0);
  EXPECT_EQ(yarn.original_positions, 64);
  EXPECT_EQ(read(R"(, "rope_scaling": null)").rope_scaling.kind, RopeScalingKind::None);
}

// All kinds with their values: tests/model/rope_test.cpp.
TEST(ModelConfig, reads_rope_parameters) {
  const ModelConfig config =
      read(R"(, "rope_parameters": {"rope_type": "linear", "rope_theta": 5e5, "factor": 2,
      "partial_rotary_factor": 0.5})");
  EXPECT_EQ(config.rope_base, 5e5);
  EXPECT_EQ(config.rotary, 4);
  EXPECT_EQ(config.rope_scaling.kind, RopeScalingKind::Linear);
  EXPECT_EQ(read(R"(, "rope_parameters": {"rope_theta": 7})").rope_base, 7.0) << "no type is the default one";
  EXPECT_EQ(read(R"(, "rope_theta": 7, "rope_parameters": {"rope_theta": 7})").rope_base, 7.0);
}

TEST(ModelConfig, refuses_rotations_that_it_does_not_know_or_that_contradict_each_other) {
  EXPECT_BAD_INPUT(
      read(R"(, "rope_parameters": {"full_attention": {"rope_type": "default"}})"),
      "c.json: rope_parameters.full_attention: expected one rotation for all layers, got an object "
      "(rotations per kind of layer are not supported)");
  EXPECT_BAD_INPUT(read(R"(, "rope_theta": 8, "rope_parameters": {"rope_theta": 7})"),
                   "c.json: rope_theta: expected 7, as in rope_parameters, got 8");
  EXPECT_BAD_INPUT(
      read(R"(, "rope_scaling": {"type": "linear", "factor": 2}, "rope_parameters": {})"),
      "c.json: rope_scaling: expected the same as in rope_parameters, or nothing, got an object");
  EXPECT_BAD_INPUT(
      read(R"(, "rope_scaling": {"type": "mrope"})"),
      "c.json: rope_scaling.type: expected one of \"default\", \"linear\", \"dynamic\", \"yarn\", "
      "\"longrope\", \"llama3\", \"su\", got \"mrope\"");
  EXPECT_BAD_INPUT(read(R"(, "rope_theta": 1, "rope_scaling": {"type": "yarn", "factor": 2})"),
                   "c.json: yarn needs a rope_theta above 1");
  EXPECT_BAD_INPUT(read(R"(, "rope_scaling": {"type": "dynamic"})"),
                   "c.json: rope_scaling.factor: required key is missing");
  EXPECT_BAD_INPUT(
      read(R"(, "rope_scaling": {"type": "longrope", "short_factor": [1, 1, 1, 1], "long_factor": [1]})"),
      "c.json: rope_scaling.long_factor: expected 4 numbers, one for each pair of rotary channels, got "
      "an array of 1");
  EXPECT_BAD_INPUT(read(R"(, "rope_scaling": {"type": "llama3", "factor": 8, "low_freq_factor": 4,
      "high_freq_factor": 1, "original_max_position_embeddings": 64})"),
                   "c.json: rope_scaling.high_freq_factor: expected a number above low_freq_factor, got 1");
}

TEST(ModelConfig, of_mistral_is_a_llama_if_its_window_hides_nothing) {
  const ModelConfig llama = read("", "llama");
  EXPECT_EQ(read(R"(, "sliding_window": null)", "mistral"), llama);
  EXPECT_EQ(read(R"(, "sliding_window": 32768)", "mistral"), llama);
  EXPECT_BAD_INPUT(
      read(R"(, "sliding_window": 4096)", "mistral"),
      "c.json: sliding_window: expected null, or at least 32768, the model's positions, got 4096 "
      "(sliding windows are not supported)");
  EXPECT_BAD_INPUT(
      read("", "mistral"),
      "c.json: without sliding_window this family has a window of 4096: expected sliding_window: null, "
      "or at least 32768, the model's positions (sliding windows are not supported)");
}

TEST(ModelConfig, refuses_a_window_only_where_it_is_in_use) {
  EXPECT_NO_THROW(read(R"(, "use_sliding_window": false, "sliding_window": 64)", "qwen2"));
  EXPECT_NO_THROW(
      read(R"(, "use_sliding_window": true, "sliding_window": 64, "max_window_layers": 3)", "qwen2"));
  EXPECT_NO_THROW(read(R"(, "use_sliding_window": true, "sliding_window": 32768)", "qwen2"));
  EXPECT_THROW(read(R"(, "use_sliding_window": true, "sliding_window": 64)", "qwen2"), Error);
  EXPECT_THROW(read(R"(, "use_sliding_window": true, "sliding_window": 64, "max_window_layers": 2)", "qwen2"),
               Error);
}

TEST(ModelConfig, knows_both_names_of_the_number_of_experts) {
  const std::string experts = R"(, "num_experts_per_tok": 2, "moe_intermediate_size": 8)";
  EXPECT_EQ(read(experts + R"(, "num_local_experts": 4)", "qwen3_moe").moe->experts, 4);
  EXPECT_EQ(read(experts + R"(, "num_experts": 4)", "qwen3_moe").moe->experts, 4);
  EXPECT_BAD_INPUT(read(experts + R"(, "num_experts": 4, "num_local_experts": 8)", "qwen3_moe"),
                   "c.json: num_local_experts: expected 4, as num_experts, got 8");
}

TEST(ModelConfig, knows_which_layers_have_experts) {
  const std::string experts = R"(, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 8)";
  const ModelConfig plain = read(experts, "qwen3_moe");
  EXPECT_TRUE(plain.has_experts(0) && plain.has_experts(1));
  EXPECT_FALSE(plain.moe->normalised) << "false unless the file says so";
  const ModelConfig every_other = read(experts + R"(, "decoder_sparse_step": 2)", "qwen3_moe");
  EXPECT_FALSE(every_other.has_experts(0));
  EXPECT_TRUE(every_other.has_experts(1));
  const ModelConfig named = read(experts + R"(, "mlp_only_layers": [1])", "qwen3_moe");
  EXPECT_TRUE(named.has_experts(0));
  EXPECT_FALSE(named.has_experts(1));
  EXPECT_TRUE(read(experts + R"(, "mlp_only_layers": null)", "qwen3_moe").has_experts(1));
}

TEST(ModelConfig, has_a_shared_expert_and_biases_as_qwen2_moe_has_them) {
  const std::string experts =
      R"(, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 8, "norm_topk_prob": true)";
  const ModelConfig config = read(experts + R"(, "shared_expert_intermediate_size": 6)", "qwen2_moe");
  EXPECT_EQ(config.moe->shared_width, 6);
  EXPECT_TRUE(config.moe->shared_gate && config.moe->normalised);
  EXPECT_TRUE(config.qkv_bias);
  EXPECT_FALSE(config.o_bias || config.qk_norm);
  EXPECT_FALSE(
      read(experts + R"(, "shared_expert_intermediate_size": 6, "qkv_bias": false)", "qwen2_moe").qkv_bias);
  EXPECT_BAD_INPUT(read(experts, "qwen2_moe"),
                   "c.json: shared_expert_intermediate_size: required key is missing");
  EXPECT_BAD_INPUT(read(R"(, "num_experts": 4, "num_experts_per_tok": 5, "moe_intermediate_size": 8)"),
                   "c.json: num_experts_per_tok: expected integer from 1 to 4, got 5");
}

TEST(ModelConfig, says_what_is_wrong_and_where) {
  EXPECT_BAD_INPUT(read("", "gpt9"),
                   "c.json: model_type: expected one of \"qwen3\", \"qwen3_moe\", \"qwen2\", "
                   "\"qwen2_moe\", \"llama\", \"mistral\", \"qwen3_next\", got \"gpt9\"");
  EXPECT_BAD_INPUT(read(R"(, "num_atention_heads": 3)"),
                   "c.json: num_atention_heads: unknown key (did you mean \"num_attention_heads\"?)");
  EXPECT_BAD_INPUT(read(R"(, "gates": [{"position": "g6"}])"),
                   "c.json: gates[0].position: expected one of \"g1\", \"g2\", \"g3\", \"g4\", \"g5\", got "
                   "\"g6\" (did you mean \"g1\"?)");
  EXPECT_BAD_INPUT(read(R"(, "gates": [{"position": "g5", "granularity": "headwise"}])"),
                   "c.json: gates[0].granularity: expected \"elementwise\", got \"headwise\" (what it "
                   "modulates has no heads)");
  EXPECT_BAD_INPUT(
      read(R"(, "gates": [{"position": "g1"}, {"position": "g1", "layers": [1]}])"),
      "c.json: gates[1]: expected one gate per position and layer, got an object (layer 1 has two)");
  EXPECT_BAD_INPUT(read(R"(, "gates": [{"position": "g1", "layers": [3]}])"),
                   "c.json: gates[0].layers[0]: expected integer from 0 to 2, got 3");
  EXPECT_BAD_INPUT(
      read(R"(, "layer_types": ["full_attention", "linear_attention", "full_attention"])"),
      "c.json: layer_types[1]: expected \"full_attention\", got \"linear_attention\" (other kinds of "
      "layers are not supported)");
  EXPECT_BAD_INPUT(
      read(R"(, "hidden_act": "gelu")"),
      "c.json: hidden_act: expected \"silu\", got \"gelu\" (another value changes the computation)");
  EXPECT_BAD_INPUT(
      read(R"(, "partial_rotary_factor": 0.4)"),
      "c.json: partial_rotary_factor: expected an even number of rotary channels per head, got 0.4 "
      "(they come out as 3)");
}

TEST(ModelConfig, refuses_a_layer_listed_twice_and_sizes_beyond_any_model) {
  EXPECT_BAD_INPUT(
      read(R"(, "gates": [{"position": "g1", "layers": [1, 1]}])"),
      "c.json: gates[0]: expected one gate per position and layer, got an object (layer 1 has two)");
  EXPECT_BAD_INPUT(read(R"(, "head_dim": 99999999)"),
                   "c.json: head_dim: expected integer from 1 to 4096, got 99999999");
}

TEST(ModelConfig, refuses_two_descriptions_of_gates) {
  EXPECT_THROW(read(R"(, "attn_output_gate": true, "elementwise_attn_output_gate": true)"), Error);
  EXPECT_THROW(read(R"(, "attn_output_gate": true, "gates": [{"position": "g2"}])"), Error);
}

TEST(ModelConfig, is_found_in_a_model_directory) {
  const TemporaryDirectory directory;
  EXPECT_THROW(load_model_config(directory.path()), Error) << "no config.json yet";
  const auto file =
      directory.file("config.json", R"({"model_type": "qwen3", "vocab_size": 7, "hidden_size": 8,
      "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2})");
  EXPECT_EQ(load_model_config(directory.path()).vocabulary, 7);
  EXPECT_EQ(load_model_config(file).vocabulary, 7);
}

}  // namespace
}  // namespace sluice
