// What is written is read back the same.
#include "sluice/model/config_writer.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sluice/model/config_reader.h"
#include "tests/model/small_model.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

const fs::path kSource = SLUICE_SOURCE_DIR;

testing::AssertionResult comes_back(const ModelConfig& config) {
  const std::string text = config_json(config).dump(2);
  if (read_model_config(Json::parse(text, "c.json")) == config) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "is read as another model:\n" << text;
}

ModelConfig three_layers() {
  ModelConfig config = small_model();
  config.layers = 3;
  config.vocabulary = 100;
  return config;
}

std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  return files;
}

TEST(ConfigWriter, every_preset_comes_back) {
  const std::vector<fs::path> presets = files_below(kSource / "configs/models");
  EXPECT_GE(presets.size(), 5U);
  for (const fs::path& path : presets) EXPECT_TRUE(comes_back(load_model_config(path))) << path;
}

TEST(ConfigWriter, every_golden_comes_back) {
  size_t count = 0;
  for (const fs::path& path : files_below(kSource / "tests/golden")) {
    if (path.filename() != "config.json") continue;
    ++count;
    EXPECT_TRUE(comes_back(load_model_config(path))) << path;
  }
  EXPECT_GE(count, 3U);
}

// A model of each kind, changed from the small one.
struct Kind {
  std::string name;
  void (*change)(ModelConfig&);
  std::string model_type;
};

GateSpec packed_gate(Granularity granularity, bool bias) {
  return {.form = {.granularity = granularity}, .bias = bias};
}

const std::vector<Kind> kKinds = {
    {"qwen3", [](ModelConfig&) {}, "qwen3"},
    {"qwen3_with_biases", [](ModelConfig& c) { c.qkv_bias = c.o_bias = true; }, "qwen3"},
    {"tied", [](ModelConfig& c) { c.tied = true; }, "qwen3"},
    {"trained_with_a_tokenizer", [](ModelConfig& c) { c.tokenizer = 0xbeef01; }, "qwen3"},
    {"one_end_of_text", [](ModelConfig& c) { c.end_of_text = {7}; }, "qwen3"},
    {"many_ends_of_text",
     [](ModelConfig& c) {
       c.end_of_text = {7, 0, 99};
     },
     "qwen3"},
    {"odd_numbers",
     [](ModelConfig& c) {
       c.norm_eps = 1e-5 / 3;
       c.rope_base = 1e6 / 7;
     },
     "qwen3"},
    {"llama", [](ModelConfig& c) { c.qk_norm = false; }, "llama"},
    {"llama_with_biases",
     [](ModelConfig& c) {
       c.qk_norm = false;
       c.qkv_bias = c.o_bias = true;
     },
     "llama"},
    {"llama_with_a_gate",
     [](ModelConfig& c) {
       c.qk_norm = false;
       c.gate_layout = GateLayout::Separate;
       c.gates = {{}};
     },
     "qwen3"},
    {"qwen2",
     [](ModelConfig& c) {
       c.qk_norm = false;
       c.qkv_bias = true;
     },
     "qwen2"},
    {"qwen2_with_normed_queries", [](ModelConfig& c) { c.qkv_bias = true; }, "qwen2"},
    {"qwen2_with_the_official_gate",
     [](ModelConfig& c) {
       c.qk_norm = false;
       c.qkv_bias = true;
       c.gate_layout = GateLayout::PackedPerGroup;
       c.gates = {packed_gate(Granularity::Elementwise, true)};
     },
     "qwen2"},
    {"official_headwise",
     [](ModelConfig& c) {
       c.gate_layout = GateLayout::PackedPerGroup;
       c.gates = {packed_gate(Granularity::Headwise, false)};
     },
     "qwen3"},
    {"official_elementwise_with_biases",
     [](ModelConfig& c) {
       c.qkv_bias = c.o_bias = true;
       c.gate_layout = GateLayout::PackedPerGroup;
       c.gates = {packed_gate(Granularity::Elementwise, true)};
     },
     "qwen3"},
    {"official_without_normed_queries",
     [](ModelConfig& c) {
       c.qk_norm = false;
       c.gate_layout = GateLayout::PackedPerGroup;
       c.gates = {packed_gate(Granularity::Elementwise, false)};
     },
     "qwen3"},
    {"qwen3_next",
     [](ModelConfig& c) {
       c.norm_style = WeightStyle::OnePlus;
       c.rotary = 2;
       c.gate_layout = GateLayout::PackedPerHead;
       c.gates = {packed_gate(Granularity::Elementwise, false)};
     },
     "qwen3_next"},
    {"qwen3_next_that_turns_all_channels",
     [](ModelConfig& c) {
       c.norm_style = WeightStyle::OnePlus;
       c.qkv_bias = c.o_bias = true;
       c.gate_layout = GateLayout::PackedPerHead;
       c.gates = {packed_gate(Granularity::Elementwise, true)};
     },
     "qwen3_next"},
    {"qwen3_next_without_a_gate", [](ModelConfig& c) { c.norm_style = WeightStyle::OnePlus; }, "qwen3_next"},
    {"qwen3_next_with_a_separate_gate",
     [](ModelConfig& c) {
       c.norm_style = WeightStyle::OnePlus;
       c.gate_layout = GateLayout::Separate;
       c.gates = {{.position = GatePosition::G2}};
     },
     "qwen3_next"},
    {"per_head_gate_outside_its_family",
     [](ModelConfig& c) {
       c.gate_layout = GateLayout::PackedPerHead;
       c.gates = {packed_gate(Granularity::Elementwise, false)};
     },
     "qwen3"},
    {"moe", [](ModelConfig& c) { c.moe = {.experts = 8, .experts_per_token = 2, .expert_width = 16}; },
     "qwen3_moe"},
    {"moe_between_dense_layers",
     [](ModelConfig& c) {
       c.moe = {.experts = 8,
                .experts_per_token = 2,
                .expert_width = 16,
                .normalised = true,
                .sparse_step = 2,
                .dense_layers = {1}};
     },
     "qwen3_moe"},
    {"moe_with_a_shared_expert",
     [](ModelConfig& c) {
       c.moe = {
           .experts = 8, .experts_per_token = 2, .expert_width = 16, .shared_width = 9, .shared_gate = false};
     },
     "qwen3_moe"},
    {"qwen2_moe",
     [](ModelConfig& c) {
       c.qk_norm = false;
       c.qkv_bias = true;
       c.moe = {.experts = 8, .experts_per_token = 2, .expert_width = 16, .shared_width = 9};
     },
     "qwen2_moe"},
    {"moe_without_a_dense_width",
     [](ModelConfig& c) {
       c.feed_forward = 0;
       c.moe = {.experts = 4, .experts_per_token = 4, .expert_width = 16};
     },
     "qwen3_moe"},
    {"moe_with_the_official_gate",
     [](ModelConfig& c) {
       c.moe = {.experts = 8, .experts_per_token = 2, .expert_width = 16};
       c.gate_layout = GateLayout::PackedPerGroup;
       c.gates = {packed_gate(Granularity::Headwise, false)};
     },
     "qwen3_moe"},
    {"qwen3_next_moe",
     [](ModelConfig& c) {
       c.norm_style = WeightStyle::OnePlus;
       c.moe = {.experts = 8, .experts_per_token = 2, .expert_width = 16};
     },
     "qwen3_next"},
    {"sandwich_norm", [](ModelConfig& c) { c.sandwich_norm = true; }, "qwen3"},
    {"head_norm", [](ModelConfig& c) { c.head_norm = true; }, "qwen3"},
    {"head_silu", [](ModelConfig& c) { c.head_silu = true; }, "qwen3"},
    {"clip", [](ModelConfig& c) { c.clip = 0.1; }, "qwen3"},
    {"all_controls_without_normed_queries",
     [](ModelConfig& c) {
       c.qk_norm = false;
       c.sandwich_norm = c.head_norm = c.head_silu = true;
       c.clip = 1000.0;
     },
     "qwen3"},
    {"linear_rope", [](ModelConfig& c) { c.rope_scaling = {.kind = RopeScalingKind::Linear, .factor = 2.5}; },
     "qwen3"},
    {"yarn",
     [](ModelConfig& c) {
       c.rope_scaling = {.kind = RopeScalingKind::Yarn, .factor = 4.0, .original_positions = 64};
     },
     "qwen3"},
    {"dynamic_rope", [](ModelConfig& c) { c.rope_scaling = {.kind = RopeScalingKind::Dynamic, .factor = 2}; },
     "qwen3"},
    {"llama3_rope",
     [](ModelConfig& c) {
       c.rope_scaling = {.kind = RopeScalingKind::Llama3,
                         .factor = 8,
                         .original_positions = 64,
                         .low_frequency = 0.5,
                         .high_frequency = 3};
     },
     "qwen3"},
    {"long_rope",
     [](ModelConfig& c) {
       const auto pairs = static_cast<size_t>(c.rotary / 2);
       c.rope_scaling = {.kind = RopeScalingKind::LongRope,
                         .original_positions = 64,
                         .attention_factor = 1.5,
                         .short_factors = std::vector<double>(pairs, 1.25),
                         .long_factors = std::vector<double>(pairs, 4.0)};
     },
     "qwen3"},
    {"begin_of_text", [](ModelConfig& c) { c.begin_of_text = 5; }, "qwen3"},
    {"yarn_with_everything",
     [](ModelConfig& c) {
       c.rope_scaling = {.kind = RopeScalingKind::Yarn,
                         .factor = 1.7,
                         .original_positions = 32,
                         .beta_fast = 16.5,
                         .beta_slow = 0.3,
                         .attention_factor = 1.1,
                         .mscale = 0.7,
                         .mscale_all = 0.5,
                         .truncate = false};
     },
     "qwen3"},
};

class ConfigKinds : public testing::TestWithParam<Kind> {
 protected:
  ModelConfig config() const {
    ModelConfig config = three_layers();
    GetParam().change(config);
    return config;
  }
};

TEST_P(ConfigKinds, come_back) {
  EXPECT_TRUE(comes_back(config()));
}

TEST_P(ConfigKinds, have_the_model_type_by_which_others_know_them) {
  EXPECT_EQ(config_json(config())["model_type"], GetParam().model_type);
}

INSTANTIATE_TEST_SUITE_P(Each, ConfigKinds, testing::ValuesIn(kKinds),
                         [](const auto& test) { return test.param.name; });

// Gates after the output projection have no heads; only keys and queries are normed and rotated.
bool makes_sense(const GateSpec& gate) {
  const bool plain =
      gate.form.granularity == Granularity::Elementwise && gate.form.sharing == Sharing::Specific;
  const bool rotated = gate.position == GatePosition::G3 || gate.position == GatePosition::G4;
  return (gate.position != GatePosition::G5 || plain) && (gate.order == GateOrder::AfterRope || rotated);
}

std::vector<GateSpec> all_gates() {
  std::vector<GateSpec> gates = {{}};
  // Each axis multiplies the list by its values.
  const auto spread = [&gates](auto values, auto set) {
    std::vector<GateSpec> more;
    for (const GateSpec& gate : gates) {
      for (const auto value : values) {
        more.push_back(gate);
        set(more.back(), value);
      }
    }
    gates = std::move(more);
  };
  spread(
      std::vector{GatePosition::G1, GatePosition::G2, GatePosition::G3, GatePosition::G4, GatePosition::G5},
      [](GateSpec& gate, GatePosition value) { gate.position = value; });
  spread(std::vector{Granularity::Elementwise, Granularity::Headwise},
         [](GateSpec& gate, Granularity value) { gate.form.granularity = value; });
  spread(std::vector{Sharing::Specific, Sharing::Shared},
         [](GateSpec& gate, Sharing value) { gate.form.sharing = value; });
  spread(std::vector{GateMode::Multiply, GateMode::Add},
         [](GateSpec& gate, GateMode value) { gate.form.mode = value; });
  spread(std::vector{Activation::Sigmoid, Activation::Silu, Activation::Identity, Activation::NsSigmoid,
                     Activation::TwoSigmoid, Activation::Softplus, Activation::Tanh},
         [](GateSpec& gate, Activation value) { gate.form.activation = value; });
  spread(std::vector{GateInput::Token, GateInput::Constant, GateInput::Truncated},
         [](GateSpec& gate, GateInput value) {
           gate.input = value;
           if (value == GateInput::Truncated) gate.channels = 12;
         });
  spread(std::vector{GateOrder::AfterRope, GateOrder::BeforeNorm},
         [](GateSpec& gate, GateOrder value) { gate.order = value; });
  std::erase_if(gates, [](const GateSpec& gate) { return !makes_sense(gate); });
  return gates;
}

TEST(ConfigWriter, every_gate_comes_back) {
  ModelConfig config = three_layers();
  config.gate_layout = GateLayout::Separate;
  const std::vector<GateSpec> gates = all_gates();
  EXPECT_EQ(gates.size(), 42U * (4 + 4 + 8 + 8 + 1)) << "modes × activations × inputs, at each position";
  for (const GateSpec& gate : gates) {
    config.gates = {gate};
    ASSERT_TRUE(comes_back(config));
  }
}

TEST(ConfigWriter, the_start_and_the_layers_of_gates_come_back) {
  ModelConfig config = three_layers();
  config.gate_layout = GateLayout::Separate;
  config.gates = {
      {.layers = {0, 2}, .init_std = 0.0, .bias = true, .bias_init = -2.5},
      {.form = {.granularity = Granularity::Headwise}, .layers = {1}, .init_std = 1.0 / 3},
      {.position = GatePosition::G4, .input = GateInput::Constant, .init_std = 0.0, .bias_init = 4},
      {.position = GatePosition::G2, .input = GateInput::Constant, .init_std = 0.02}};
  EXPECT_TRUE(comes_back(config));
}

// partial_rotary_factor is a share, and the number of channels is what it gives when it is cut off.
TEST(ConfigWriter, every_number_of_rotary_channels_comes_back) {
  ModelConfig config = three_layers();
  for (int64_t width = 1; width <= 130; ++width) {
    for (int64_t rotary = 0; rotary <= width; rotary += 2) {
      config.head_dim = width;
      config.rotary = rotary;
      const double share = config_json(config).value("partial_rotary_factor", 1.0);
      ASSERT_LE(share, 1.0);
      // As the reader does it; reading each whole configuration would take seconds.
      ASSERT_EQ(static_cast<int64_t>(static_cast<double>(width) * share), rotary) << "of " << width;
    }
  }
  for (const auto& [width, rotary] : {std::pair{28, 6}, {28, 22}, {80, 32}, {96, 24}, {7, 6}, {8, 0}}) {
    config.head_dim = width;
    config.rotary = rotary;
    EXPECT_TRUE(comes_back(config)) << rotary << " of " << width;
  }
}

TEST(ConfigWriter, other_programs_find_the_class_of_the_model) {
  ModelConfig config = three_layers();
  EXPECT_EQ(config_json(config)["architectures"], nlohmann::ordered_json{"Qwen3ForCausalLM"});
  config.qk_norm = false;
  EXPECT_EQ(config_json(config)["architectures"], nlohmann::ordered_json{"LlamaForCausalLM"});
  config.qkv_bias = true;
  EXPECT_EQ(config_json(config)["architectures"], nlohmann::ordered_json{"Qwen2ForCausalLM"});
  EXPECT_EQ(config_json(config)["hidden_act"], "silu");
}

// The official code asks for both of its flags, the Qwen3-Next code for experts and kinds of layers.
TEST(ConfigWriter, other_programs_find_the_keys_of_the_family) {
  ModelConfig config = three_layers();
  config.gate_layout = GateLayout::PackedPerGroup;
  config.gates = {packed_gate(Granularity::Headwise, false)};
  const nlohmann::ordered_json official = config_json(config);
  EXPECT_EQ(official["headwise_attn_output_gate"], true);
  EXPECT_EQ(official["elementwise_attn_output_gate"], false);
  EXPECT_EQ(official["qkv_bias"], false);
  config.gate_layout = GateLayout::PackedPerHead;
  config.gates = {packed_gate(Granularity::Elementwise, false)};
  config.norm_style = WeightStyle::OnePlus;
  const nlohmann::ordered_json next = config_json(config);
  EXPECT_EQ(next["attn_output_gate"], true);
  EXPECT_EQ(next["num_experts"], 0);
  EXPECT_EQ(next["partial_rotary_factor"], 1.0);
  EXPECT_EQ(next["layer_types"].size(), 3U);
}

}  // namespace
}  // namespace sluice
