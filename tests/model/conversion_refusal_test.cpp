// What a layout cannot express is refused with the reason, and nothing is written.
#include "sluice/base/file.h"
#include "tests/base/expect_error.h"
#include "tests/model/conversions.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

struct Refusal {
  std::string name;
  GateLayout layout;
  void (*change)(ModelConfig&);  // of a model with separate elementwise gates on attention's output
  std::string reason;
};

const std::string kOutputGate = "it holds one multiplying sigmoid gate on attention's output, in every layer";
const std::string kControls = "it knows neither sandwich norm, norms or SiLU on heads, nor clipping";

const std::vector<Refusal> kRefusals = {
    {"headwise_in_qwen3_next", kQwen3Next,
     [](ModelConfig& c) { c.gates[0].form.granularity = Granularity::Headwise; }, "its gate is elementwise"},
    {"no_qk_norm_in_qwen3_next", kQwen3Next, [](ModelConfig& c) { c.qk_norm = false; },
     "it norms queries and keys"},
    {"partial_rotary_in_official", kOfficial, [](ModelConfig& c) { c.rotary = 4; },
     "its code turns all channels of a head"},
    {"gate_on_values", kOfficial, [](ModelConfig& c) { c.gates[0].position = GatePosition::G2; },
     kOutputGate},
    {"gate_on_values_in_qwen3_next", kQwen3Next,
     [](ModelConfig& c) { c.gates[0].position = GatePosition::G2; }, kOutputGate},
    {"two_gates", kOfficial, [](ModelConfig& c) { c.gates.push_back({.position = GatePosition::G2}); },
     kOutputGate},
    {"some_layers", kOfficial, [](ModelConfig& c) { c.gates[0].layers = {1}; }, kOutputGate},
    {"adding_gate", kOfficial, [](ModelConfig& c) { c.gates[0].form.mode = GateMode::Add; }, kOutputGate},
    {"other_activation", kQwen3Next,
     [](ModelConfig& c) { c.gates[0].form.activation = Activation::TwoSigmoid; }, kOutputGate},
    {"shared_gate", kOfficial, [](ModelConfig& c) { c.gates[0].form.sharing = Sharing::Shared; },
     kOutputGate},
    {"constant_gate", kOfficial, [](ModelConfig& c) { c.gates[0].input = GateInput::Constant; }, kOutputGate},
    {"truncated_gate", kQwen3Next,
     [](ModelConfig& c) {
       c.gates[0].input = GateInput::Truncated;
       c.gates[0].channels = 8;
     },
     kOutputGate},
    {"bias_of_the_gate_alone", kOfficial, [](ModelConfig& c) { c.gates[0].bias = true; },
     "its gate has a bias if q_proj has one"},
    {"bias_of_the_gate_alone_in_qwen3_next", kQwen3Next, [](ModelConfig& c) { c.gates[0].bias = true; },
     "its gate has a bias if q_proj has one"},
    {"bias_of_the_query_alone", kOfficial, [](ModelConfig& c) { c.qkv_bias = c.o_bias = true; },
     "its gate has a bias if q_proj has one"},
    {"no_bias_on_the_output", kOfficial, [](ModelConfig& c) { c.gates[0].bias = c.qkv_bias = true; },
     "its projections have all a bias or none"},
    {"no_bias_on_the_output_in_qwen3_next", kQwen3Next,
     [](ModelConfig& c) { c.gates[0].bias = c.qkv_bias = true; }, "its projections have all a bias or none"},
    {"sandwich_norm", kOfficial, [](ModelConfig& c) { c.sandwich_norm = true; }, kControls},
    {"head_norm", kOfficial, [](ModelConfig& c) { c.head_norm = true; }, kControls},
    {"head_silu", kQwen3Next, [](ModelConfig& c) { c.head_silu = true; }, kControls},
    {"clip", kQwen3Next, [](ModelConfig& c) { c.clip = 10.0; }, kControls},
};

class RefusedLayouts : public testing::TestWithParam<Refusal> {};

TEST_P(RefusedLayouts, come_with_the_reason) {
  ModelConfig config = small_model(kSeparate, {{}});
  GetParam().change(config);
  const std::string layout = GetParam().layout == kOfficial ? "official" : "qwen3-next";
  EXPECT_BAD_INPUT(with_layout(config, GetParam().layout, "m"),
                   "m: cannot be written in the layout " + layout + " (" + GetParam().reason + ")");
}

TEST_P(RefusedLayouts, leave_separate_as_the_layout_for_everything) {
  ModelConfig config = small_model(kSeparate, {{}});
  GetParam().change(config);
  EXPECT_EQ(with_layout(config, kSeparate, "m"), config);
}

INSTANTIATE_TEST_SUITE_P(Each, RefusedLayouts, testing::ValuesIn(kRefusals),
                         [](const auto& test) { return test.param.name; });

TEST_F(Conversions, a_model_without_gates_is_no_qwen3_next) {
  const fs::path source = golden("tiny_baseline");
  EXPECT_BAD_INPUT(convert_model(source, path("out"), {.layout = kQwen3Next}),
                   source.string() +
                       ": cannot be written in the layout qwen3-next (every attention layer of that family "
                       "has a gate; this model has none)");
  EXPECT_EQ(directory_.entries(), 0U);
}

TEST_F(Conversions, a_headwise_model_is_no_qwen3_next) {
  const fs::path source = golden("tiny_gate_headwise");
  EXPECT_BAD_INPUT(
      convert_model(source, path("out"), {.layout = kQwen3Next}),
      source.string() + ": cannot be written in the layout qwen3-next (its gate is elementwise)");
  EXPECT_EQ(directory_.entries(), 0U);
}

// What is left behind.

TEST_F(Conversions, a_target_with_files_is_refused_and_untouched) {
  fs::create_directory(path("out"));
  directory_.file("out/notes.txt", "mine");
  EXPECT_ERROR(convert_model(golden("tiny_baseline"), path("out"), {}), ErrorKind::Failed,
               path("out").string() + ": is not empty (give a name that does not exist yet)");
  EXPECT_EQ(read_text(path("out") / "notes.txt", 10), "mine");
  EXPECT_EQ(directory_.entries(), 1U);
  EXPECT_EQ(std::distance(fs::directory_iterator(path("out")), {}), 1);
}

TEST_F(Conversions, the_model_itself_is_no_target) {
  fs::copy(golden("tiny_baseline"), path("model"));
  const auto before = tensors_of(path("model"));
  EXPECT_THROW(convert_model(path("model"), path("model"), {.dtype = StoredType::BF16}), Error);
  EXPECT_EQ(tensors_of(path("model")), before);
}

// Shapes are compared when a tensor's turn comes, with some of them written already.
TEST_F(Conversions, a_failure_midway_leaves_nothing) {
  fs::copy(golden("tiny_baseline"), path("model"));
  std::string config = read_text(path("model") / "config.json", 10'000);
  config.replace(config.find("\"intermediate_size\": 64"), 23, "\"intermediate_size\": 60");
  directory_.file("model/config.json", config);
  EXPECT_BAD_INPUT(
      convert_model(path("model"), path("out"), {}),
      (path("model") / "model.safetensors").string() +
          ": tensor \"model.layers.0.mlp.gate_proj.weight\": shape: expected [60, 32], got [64, 32]");
  EXPECT_EQ(directory_.entries(), 1U) << "the model alone";
}

TEST_F(Conversions, a_directory_that_is_no_model_is_bad_input) {
  EXPECT_BAD_INPUT(
      convert_model(path("gone"), path("out"), {}),
      path("gone").string() + ": not a model directory (it holds config.json and model.safetensors)");
  EXPECT_EQ(directory_.entries(), 0U);
}

}  // namespace
}  // namespace sluice
