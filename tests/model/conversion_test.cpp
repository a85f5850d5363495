// Models rewritten in other layouts compute what they computed before.
#include <algorithm>

#include "sluice/base/file.h"
#include "sluice/model/config_reader.h"
#include "tests/model/conversions.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

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

}  // namespace
}  // namespace sluice
