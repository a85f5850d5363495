// Models rewritten in other layouts and element types compute what they computed before.
#include "sluice/model/conversion.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sluice/base/file.h"
#include "sluice/model/config_reader.h"
#include "sluice/model/safetensors_f16.h"
#include "sluice/tensor/bf16.h"
#include "tests/base/expect_error.h"
#include "tests/base/temporary_directory.h"
#include "tests/model/model_files.h"
#include "tests/probe/golden.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

using Route = std::vector<GateLayout>;

constexpr GateLayout kOfficial = GateLayout::PackedPerGroup;
constexpr GateLayout kQwen3Next = GateLayout::PackedPerHead;
constexpr GateLayout kSeparate = GateLayout::Separate;

struct StoredTensor {
  StoredType dtype;
  std::string shape;
  std::vector<std::byte> bytes;

  bool operator==(const StoredTensor&) const = default;
};

std::map<std::string, StoredTensor> tensors_of(const fs::path& model) {
  const TensorStore store(model);
  std::map<std::string, StoredTensor> tensors;
  for (const std::string& name : store.names()) {
    const auto bytes = store.bytes(name);
    tensors[name] = {store.info(name).dtype, store.info(name).shape.text(), {bytes.begin(), bytes.end()}};
  }
  return tensors;
}

class Conversions : public testing::Test {
 protected:
  fs::path path(const std::string& name) const { return directory_.path() / name; }

  fs::path converted(const fs::path& model, const Conversion& conversion) {
    const fs::path out = path("converted" + std::to_string(count_++));
    convert_model(model, out, conversion);
    return out;
  }

  // Through the layouts one after the other.
  fs::path converted(fs::path model, const Route& route) {
    for (const GateLayout layout : route) model = converted(model, Conversion{.layout = layout});
    return model;
  }

  Trace traced(const fs::path& model, const std::vector<int32_t>& ids) {
    return trace({engine_}, *load_model(engine_, model, DType::F32), ids);
  }

  // A directory with random values, also on norms and biases.
  fs::path random_model(const ModelConfig& config, StoredType dtype = StoredType::F32) {
    MemoryPool pool;
    const Decoder decoder(config);
    const fs::path out = path("random" + std::to_string(count_++));
    write_model(out, config, random_tensors(decoder, pool, [&](size_t) { return dtype; }));
    return out;
  }

  void expect_same_results(const fs::path& model, const fs::path& other) {
    const std::vector<int32_t> ids = {3, 1, 4, 1, 5, 9, 2, 6, 5, 35, 8, 49};
    const Trace expected = traced(model, ids), got = traced(other, ids);
    EXPECT_LE(largest_difference(got.logits, expected.logits.values<float>()), 1e-4);
    EXPECT_LE(largest_difference(got.hidden, expected.hidden.values<float>()), 1e-4);
    EXPECT_LE(largest_difference(got.gates, expected.gates.values<float>()), 1e-5);
  }

  TemporaryDirectory directory_;
  Engine engine_;
  int count_ = 0;
};

struct GoldenRoute {
  std::string name, golden;
  Route route;
};

class GoldenConversions : public Conversions, public testing::WithParamInterface<GoldenRoute> {};

TEST_P(GoldenConversions, compute_what_the_official_code_does) {
  const fs::path source = golden(GetParam().golden);
  const SafetensorsFile expected(source / "expected.safetensors");
  const fs::path model = converted(source, GetParam().route);
  expect_agreement(traced(model, ids_of(expected)), expected);
  if (load_model_config(source).gates.empty()) return;
  EXPECT_EQ(load_model_config(model).gate_layout, GetParam().route.back());
}

INSTANTIATE_TEST_SUITE_P(
    Each, GoldenConversions,
    testing::Values(
        GoldenRoute{"baseline_official", "tiny_baseline", {kOfficial}},
        GoldenRoute{"baseline_separate", "tiny_baseline", {kSeparate}},
        GoldenRoute{"headwise_official", "tiny_gate_headwise", {kOfficial}},
        GoldenRoute{"headwise_separate", "tiny_gate_headwise", {kSeparate}},
        GoldenRoute{"headwise_separate_and_back", "tiny_gate_headwise", {kSeparate, kOfficial}},
        GoldenRoute{"elementwise_official", "tiny_gate_elementwise", {kOfficial}},
        GoldenRoute{"elementwise_separate", "tiny_gate_elementwise", {kSeparate}},
        GoldenRoute{"elementwise_separate_and_back", "tiny_gate_elementwise", {kSeparate, kOfficial}},
        GoldenRoute{"elementwise_qwen3_next", "tiny_gate_elementwise", {kQwen3Next}},
        GoldenRoute{"elementwise_qwen3_next_and_back", "tiny_gate_elementwise", {kQwen3Next, kOfficial}},
        GoldenRoute{"elementwise_all_around",
                    "tiny_gate_elementwise",
                    {kQwen3Next, kSeparate, kQwen3Next, kSeparate, kOfficial}}),
    [](const auto& test) { return test.param.name; });

class EveryGolden : public Conversions, public testing::WithParamInterface<std::string> {};

TEST_P(EveryGolden, keeps_every_byte_when_it_is_written_as_it_is) {
  EXPECT_EQ(tensors_of(converted(golden(GetParam()), Conversion{})), tensors_of(golden(GetParam())));
}

TEST_P(EveryGolden, keeps_every_byte_on_the_way_to_separate_gates_and_back) {
  const fs::path back = converted(golden(GetParam()), Route{kSeparate, kOfficial});
  EXPECT_EQ(tensors_of(back), tensors_of(golden(GetParam())));
  EXPECT_EQ(load_model_config(back), load_model_config(golden(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(Official, EveryGolden,
                         testing::Values("tiny_baseline", "tiny_gate_headwise", "tiny_gate_elementwise"),
                         [](const auto& test) { return test.param; });

TEST_F(Conversions, separate_gates_are_tensors_of_their_own) {
  const TensorStore store(converted(golden("tiny_gate_elementwise"), Route{kSeparate}));
  EXPECT_EQ(store.info("model.layers.2.self_attn.gate_proj.weight").shape, (Shape{32, 32}));
  EXPECT_EQ(store.info("model.layers.2.self_attn.q_proj.weight").shape, (Shape{32, 32}));
  const TensorStore headwise(converted(golden("tiny_gate_headwise"), Route{kSeparate}));
  EXPECT_EQ(headwise.info("model.layers.2.self_attn.gate_proj.weight").shape, (Shape{4, 32}));
}

// The two packed layouts have the same shapes: only the order of rows tells them apart.
TEST_F(Conversions, the_packed_layouts_differ_in_the_order_of_rows) {
  const fs::path next = converted(golden("tiny_gate_elementwise"), Route{kQwen3Next});
  const std::string name = "model.layers.0.self_attn.q_proj.weight";
  const StoredTensor official = tensors_of(golden("tiny_gate_elementwise"))[name];
  const StoredTensor per_head = tensors_of(next)[name];
  EXPECT_EQ(official.shape, per_head.shape);
  EXPECT_NE(official.bytes, per_head.bytes);
  const auto row = [](const StoredTensor& tensor, size_t index) {
    const size_t width = 32 * sizeof(float);
    return std::vector(tensor.bytes.begin() + static_cast<std::ptrdiff_t>(index * width),
                       tensor.bytes.begin() + static_cast<std::ptrdiff_t>((index + 1) * width));
  };
  // Two heads of eight channels in a group: q0 q1 g0 g1 | …, and q0 g0 q1 g1 | …
  EXPECT_EQ(row(official, 0), row(per_head, 0));
  EXPECT_EQ(row(official, 8), row(per_head, 16)) << "the second head's query";
  EXPECT_EQ(row(official, 16), row(per_head, 8)) << "the first head's gate";
  EXPECT_EQ(row(official, 24), row(per_head, 24));
  EXPECT_EQ(row(official, 63), row(per_head, 63));
}

TEST_F(Conversions, the_norms_of_qwen3_next_are_what_they_have_beside_one) {
  const fs::path next = converted(golden("tiny_gate_elementwise"), Route{kQwen3Next});
  EXPECT_EQ(load_model_config(next).norm_style, WeightStyle::OnePlus);
  for (const char* name : {"model.norm.weight", "model.layers.1.self_attn.q_norm.weight"}) {
    const TensorStore from(golden("tiny_gate_elementwise")), to(next);
    const Shape shape = from.info(name).shape;
    MemoryPool pool;
    const Tensor before = from.read(pool, name, shape, DType::F32);
    const Tensor after = to.read(pool, name, shape, DType::F32);
    for (int64_t i = 0; i < shape.count(); ++i)
      ASSERT_EQ(after.data<float>()[i], before.data<float>()[i] - 1.0F) << name;
  }
}

// Random models for what the goldens do not have.

TEST_F(Conversions, packed_biases_go_where_their_rows_go) {
  for (const auto granularity : {Granularity::Elementwise, Granularity::Headwise}) {
    ModelConfig config = small_model(kOfficial, {{.form = {.granularity = granularity}, .bias = true}});
    config.qkv_bias = config.o_bias = true;
    config.kv_heads = 1;
    const fs::path model = random_model(config);
    expect_same_results(model, converted(model, Route{kSeparate}));
    EXPECT_EQ(tensors_of(converted(model, Route{kSeparate, kOfficial})), tensors_of(model));
    if (granularity == Granularity::Headwise) continue;
    expect_same_results(model, converted(model, Route{kQwen3Next}));
    expect_same_results(model, converted(model, Route{kQwen3Next, kSeparate, kOfficial}));
  }
}

TEST_F(Conversions, groups_of_several_heads_and_of_one_are_packed_alike) {
  for (const int64_t kv_heads : {1, 2, 4}) {
    ModelConfig config = small_model(kSeparate, {{.init_std = 0.5}});
    config.kv_heads = kv_heads;
    const fs::path model = random_model(config);
    expect_same_results(model, converted(model, Route{kOfficial}));
    expect_same_results(model, converted(model, Route{kQwen3Next}));
    EXPECT_EQ(tensors_of(converted(model, Route{kOfficial, kSeparate})), tensors_of(model));
  }
}

TEST_F(Conversions, a_gate_whose_layers_are_all_listed_is_one_in_every_layer) {
  const fs::path model = random_model(small_model(kSeparate, {{.layers = {1, 0}}}));
  const fs::path official = converted(model, Route{kOfficial});
  expect_same_results(model, official);
  const ModelConfig config = load_model_config(model);
  EXPECT_EQ(with_layout(config, kOfficial, "m"), load_model_config(official));
}

TEST_F(Conversions, partial_rotary_stays_what_it_is) {
  ModelConfig config = small_model(kSeparate, {{}});
  config.rotary = 6;
  const fs::path model = random_model(config);
  expect_same_results(model, converted(model, Route{kQwen3Next}));
  EXPECT_EQ(load_model_config(converted(model, Route{kQwen3Next})).rotary, 6);
}

TEST_F(Conversions, a_model_in_several_files_becomes_one) {
  MemoryPool pool;
  const ModelConfig config = small_model();
  const Decoder decoder(config);
  write_model(path("shards"), config, random_tensors(decoder, pool, [](size_t) { return StoredType::F32; }),
              {.max_bytes = 10'000});
  ASSERT_TRUE(fs::exists(path("shards") / "model.safetensors.index.json"));
  const fs::path one = converted(path("shards"), Conversion{});
  EXPECT_TRUE(fs::exists(one / "model.safetensors"));
  EXPECT_EQ(tensors_of(one), tensors_of(path("shards")));
}

// Element types.

template <class Round>
void expect_rounded(const fs::path& model, const fs::path& source, StoredType dtype, const Round& round) {
  const TensorStore from(source), to(model);
  MemoryPool pool;
  EXPECT_EQ(to.names().size(), from.names().size());
  for (const std::string& name : from.names()) {
    EXPECT_EQ(to.info(name).dtype, dtype) << name;
    const Shape shape = from.info(name).shape;
    const Tensor before = from.read(pool, name, shape, DType::F32);
    const Tensor after = to.read(pool, name, shape, DType::F32);
    for (int64_t i = 0; i < shape.count(); ++i) {
      ASSERT_EQ(after.data<float>()[i], to_float(round(before.data<float>()[i]))) << name;
    }
  }
}

TEST_F(Conversions, values_that_f16_cannot_hold_are_refused_by_name) {
  MemoryPool pool;
  const ModelConfig config = small_model();
  const Decoder decoder(config);
  const auto values = [&](size_t parameter) {
    const Tensor tensor = random_values(pool, decoder, parameter);
    if (parameter == 1) tensor.data<float>()[0] = 65520.0F;
    return tensor;
  };
  write_model(path("large"), config,
              checkpoint_tensors(decoder, pool,
                                 {.values = values, .stored_type = [](size_t) { return StoredType::F32; }}));
  EXPECT_BAD_INPUT(
      convert_model(path("large"), path("f16"), Conversion{.dtype = StoredType::F16}),
      decoder.parameters()[1].parameter->name +
          ": cannot be written in f16: expected values up to 65504, got 65520 (bf16 has the range of "
          "f32)");
  EXPECT_FALSE(fs::exists(path("f16")));
}

TEST_F(Conversions, all_tensors_get_the_type_asked_for_rounded_to_nearest) {
  for (const std::string name : {"tiny_baseline", "tiny_gate_headwise", "tiny_gate_elementwise"}) {
    const fs::path source = golden(name);
    expect_rounded(converted(source, Conversion{.dtype = StoredType::BF16}), source, StoredType::BF16,
                   [](float x) { return to_bf16(x); });
    expect_rounded(converted(source, Conversion{.dtype = StoredType::F16}), source, StoredType::F16,
                   [](float x) { return to_f16(x); });
  }
}

TEST_F(Conversions, results_in_16_bits_are_close) {
  const fs::path source = golden("tiny_gate_elementwise");
  const SafetensorsFile expected(source / "expected.safetensors");
  for (const StoredType dtype : {StoredType::BF16, StoredType::F16}) {
    const Trace got = traced(converted(source, Conversion{.dtype = dtype}), ids_of(expected));
    EXPECT_LE(relative_l2(got.logits, floats_of(expected, "logits")), 0.02) << name_of(dtype);
  }
}

TEST_F(Conversions, from_16_bits_to_f32_and_back_keeps_every_byte) {
  for (const StoredType dtype : {StoredType::BF16, StoredType::F16}) {
    const fs::path narrow = converted(golden("tiny_gate_elementwise"), Conversion{.dtype = dtype});
    const fs::path wide = converted(narrow, Conversion{.dtype = StoredType::F32});
    EXPECT_EQ(tensors_of(converted(wide, Conversion{.dtype = dtype})), tensors_of(narrow));
    EXPECT_EQ(tensors_of(converted(narrow, Route{kSeparate, kOfficial})), tensors_of(narrow))
        << "a layout alone changes no type";
  }
}

TEST_F(Conversions, layout_and_type_may_change_at_once) {
  const fs::path model =
      converted(golden("tiny_gate_elementwise"), Conversion{.layout = kQwen3Next, .dtype = StoredType::BF16});
  const TensorStore store(model);
  EXPECT_EQ(store.info("model.layers.0.self_attn.q_proj.weight").dtype, StoredType::BF16);
  EXPECT_EQ(store.info("model.layers.0.mlp.up_proj.weight").dtype, StoredType::BF16);
  EXPECT_EQ(store.info("model.norm.weight").dtype, StoredType::F32)
      << "what a norm has beside one would be lost in 16 bits";
}

// Rounding the one to the type of the other would lose what the file has.
TEST_F(Conversions, a_gate_of_another_type_than_the_query_loses_nothing_when_packed) {
  MemoryPool pool;
  const ModelConfig config = small_model(kSeparate, {{}});
  const Decoder decoder(config);
  const auto type = [&](size_t parameter) {
    const std::string& name = decoder.parameters()[parameter].parameter->name;
    return name.find("q_proj") == std::string::npos ? StoredType::F32 : StoredType::BF16;
  };
  write_model(path("mixed"), config, random_tensors(decoder, pool, type));
  const fs::path official = converted(path("mixed"), Route{kOfficial});
  EXPECT_EQ(TensorStore(official).info("model.layers.0.self_attn.q_proj.weight").dtype, StoredType::F32);
  const std::string gate = "model.layers.1.self_attn.gate_proj.weight";
  EXPECT_EQ(tensors_of(converted(official, Route{kSeparate}))[gate], tensors_of(path("mixed"))[gate]);
}

// What a layout cannot express.

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

// What comes along.

TEST_F(Conversions, files_that_say_nothing_of_the_weights_come_along) {
  fs::copy(golden("tiny_gate_elementwise"), path("model"));
  const std::vector<std::string> names = {"tokenizer.json",          "tokenizer_config.json", "vocab.json",
                                          "special_tokens_map.json", "added_tokens.json",     "merges.txt",
                                          "generation_config.json",  "chat_template.jinja"};
  for (const std::string& name : names) directory_.file("model/" + name, "content of " + name);
  directory_.file("model/merges.txt", "");
  directory_.file("model/notes.txt", "mine");
  const fs::path out = converted(path("model"), Route{kSeparate});
  for (const std::string& name : names) {
    EXPECT_EQ(read_text(out / name, 100), name == "merges.txt" ? "" : "content of " + name);
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(out), {}), static_cast<std::ptrdiff_t>(names.size()) + 2)
      << "these, config.json and model.safetensors";
}

class CarriedKeys : public Conversions {
 protected:
  nlohmann::json config_of(const fs::path& model) const {
    return nlohmann::json::parse(read_text(model / "config.json", 100'000));
  }

  // The golden with these keys in its config.json.
  fs::path golden_with(const nlohmann::json& keys) {
    fs::copy(golden("tiny_gate_elementwise"), path("model"));
    nlohmann::json config = config_of(path("model"));
    config.update(keys);
    directory_.file("model/config.json", config.dump());
    return path("model");
  }
};

TEST_F(CarriedKeys, are_those_that_others_may_need) {
  const nlohmann::json keys = {
      {"bos_token_id", 1},      {"pad_token_id", 2},      {"initializer_range", 0.01},
      {"torch_dtype", "x"},     {"dtype", "y"},           {"attention_dropout", 0.5},
      {"use_cache", false},     {"eos_token_id", {3, 4}}, {"max_window_layers", 5},
      {"_name_or_path", "here"}};
  const nlohmann::json config = config_of(converted(golden_with(keys), Route{kSeparate}));
  for (const char* key : {"bos_token_id", "pad_token_id", "initializer_range", "torch_dtype", "dtype",
                          "attention_dropout", "use_cache", "eos_token_id"}) {
    EXPECT_EQ(config.value(key, nlohmann::json()), keys[key]) << key;
  }
  EXPECT_FALSE(config.contains("_name_or_path")) << "it is another model now";
  EXPECT_FALSE(config.contains("elementwise_attn_output_gate")) << "the gate is told in another way";
  EXPECT_EQ(config["gates"].size(), 1U);
}

TEST_F(CarriedKeys, name_the_type_that_was_asked_for) {
  const fs::path model = golden_with({{"dtype", "float32"}});
  const nlohmann::json bf16 = config_of(converted(model, Conversion{.dtype = StoredType::BF16}));
  EXPECT_EQ(bf16["torch_dtype"], "bfloat16");
  EXPECT_EQ(bf16["dtype"], "bfloat16");
  const nlohmann::json f16 = config_of(converted(model, Conversion{.dtype = StoredType::F16}));
  EXPECT_EQ(f16["torch_dtype"], "float16");
  const nlohmann::json same = config_of(converted(model, Conversion{}));
  EXPECT_EQ(same["torch_dtype"], "float32");
}

}  // namespace
}  // namespace sluice
