// Models rewritten in other element types hold the nearest values.
#include "sluice/io/f16.h"
#include "sluice/tensor/bf16.h"
#include "tests/base/expect_error.h"
#include "tests/model/conversions.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

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

// The largest floats lie nearer to infinity than to the largest bf16.
TEST_F(Conversions, values_that_bf16_cannot_hold_are_refused_by_name) {
  MemoryPool pool;
  const ModelConfig config = small_model();
  const Decoder decoder(config);
  const auto write = [&](const char* name, float value) {
    const auto values = [&](size_t parameter) {
      const Tensor tensor = random_values(pool, decoder, parameter);
      if (parameter == 1) tensor.data<float>()[0] = value;
      return tensor;
    };
    write_model(path(name), config,
                checkpoint_tensors(decoder, pool, {.values = values, .stored_type = [](size_t) {
                                                     return StoredType::F32;
                                                   }}));
  };
  const Conversion bf16{.dtype = StoredType::BF16};
  write("just", 0x1.FEFFFEp127F);
  EXPECT_NO_THROW(convert_model(path("just"), path("out"), bf16));
  write("large", -0x1.FFp127F);
  EXPECT_BAD_INPUT(convert_model(path("large"), path("bf16"), bf16),
                   decoder.parameters()[1].parameter->name +
                       ": cannot be written in bf16: expected values up to 3.39e38, got -3.3961775e+38");
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

}  // namespace
}  // namespace sluice
