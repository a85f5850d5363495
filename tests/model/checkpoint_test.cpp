// Model directories as they are opened: what is read from the mapping, what is copied, what is refused.
#include "sluice/model/checkpoint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sluice/io/f16.h"
#include "sluice/ops/weight.h"
#include "tests/base/expect_error.h"
#include "tests/base/temporary_directory.h"
#include "tests/model/model_files.h"
#include "tests/probe/golden.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

std::function<StoredType(size_t)> all(StoredType type) {
  return [type](size_t) { return type; };
}

class Checkpoints : public testing::Test {
 protected:
  // Norms, biases and the like in F32, all matrices in `matrices`.
  void write(const ModelConfig& config, StoredType matrices) {
    const Decoder decoder(config);
    write_model(model(), config, random_tensors(decoder, pool_, [&](size_t i) {
                  const bool matrix = decoder.parameters()[i].role == ParameterRole::Matrix;
                  return matrix ? matrices : StoredType::F32;
                }));
  }

  void write_some(const ModelConfig& config, const std::function<void(std::vector<TensorOutput>&)>& change) {
    const Decoder decoder(config);
    std::vector<TensorOutput> tensors = random_tensors(decoder, pool_, all(StoredType::F32));
    change(tensors);
    write_model(model(), config, tensors);
  }

  // Bytes of weights that loading copied into memory.
  static size_t copied(const fs::path& directory, DType dtype) {
    Engine engine;
    const auto decoder = load_model(engine, directory, dtype);
    return engine.pool().stats().in_use;
  }

  fs::path model() const { return directory_.path() / "model"; }

  TemporaryDirectory directory_;
  MemoryPool pool_;
};

TEST_F(Checkpoints, have_the_values_that_were_written) {
  const ModelConfig config = small_model(GateLayout::PackedPerGroup, {{}});
  write(config, StoredType::F32);
  Engine engine;
  const auto decoder = load_model(engine, model(), DType::F32);
  EXPECT_EQ(decoder->config(), config);
  for (size_t i = 0; i < decoder->parameters().size(); ++i) {
    const Parameter& parameter = *decoder->parameters()[i].parameter;
    const Tensor expected = random_values(pool_, *decoder, i);
    EXPECT_TRUE(std::ranges::equal(parameter.value.values<float>(), expected.values<float>()))
        << parameter.name;
  }
}

TEST_F(Checkpoints, in_the_wanted_type_are_not_copied) {
  write(small_model(), StoredType::F32);
  EXPECT_EQ(copied(model(), DType::F32), 0U);
  EXPECT_GT(copied(model(), DType::BF16), 0U);
}

TEST_F(Checkpoints, in_bf16_are_not_copied_if_that_is_wanted) {
  write(small_model(), StoredType::BF16);
  EXPECT_EQ(copied(model(), DType::BF16), 0U);
  EXPECT_GT(copied(model(), DType::F32), 0U);
}

TEST_F(Checkpoints, in_int8_hold_each_matrix_once) {
  for (const StoredType stored : {StoredType::BF16, StoredType::F32, StoredType::F16}) {
    for (const bool tied : {false, true}) {
      ModelConfig config = small_model(GateLayout::PackedPerGroup, {{}});
      config.tied = tied;
      std::filesystem::remove_all(model());
      write(config, stored);
      Engine engine;
      const auto decoder = load_model(engine, model(), DType::I8);
      for (const NamedParameter& named : decoder->parameters()) {
        const Parameter& parameter = *named.parameter;
        const bool table = &parameter == &decoder->embedding_weight();
        const bool matrix = named.role == ParameterRole::Matrix;
        EXPECT_EQ(parameter.value.defined(), table || !matrix) << parameter.name;
        const Weight weight = weight_of({engine}, parameter);
        EXPECT_EQ(weight.is_int8(), matrix && (!table || tied)) << parameter.name;
        if (!weight.is_int8()) continue;
        EXPECT_EQ(weight.outputs(), named.shape.rows()) << parameter.name;
        EXPECT_EQ(weight.inputs(), named.shape.cols()) << parameter.name;
      }
    }
  }
}

TEST_F(Checkpoints, with_packed_gates_copy_only_these_and_their_queries) {
  // Two layers, 2 · 32 rows of 32 channels each. The pool rounds sizes up, not to twice as much.
  constexpr size_t kPacked = 2 * 64 * 32 * sizeof(float);
  write(small_model(GateLayout::PackedPerGroup, {{}}), StoredType::F32);
  EXPECT_GE(copied(model(), DType::F32), kPacked);
  EXPECT_LE(copied(model(), DType::F32), 2 * kPacked);
}

// Behind an odd number of bf16 elements an f32 tensor starts at an odd multiple of two bytes.
TEST_F(Checkpoints, that_are_not_aligned_are_copied) {
  ModelConfig config = small_model();
  config.vocabulary = 51;
  config.hidden = 33;
  write(config, StoredType::BF16);
  EXPECT_GT(copied(model(), DType::BF16), 0U);
  Engine engine;
  const auto decoder = load_model(engine, model(), DType::BF16);
  const NamedParameter& norm = decoder->parameters()[1];
  ASSERT_EQ(norm.parameter->name, "model.layers.0.input_layernorm.weight");
  EXPECT_TRUE(std::ranges::equal(norm.parameter->value.values<float>(),
                                 random_values(pool_, *decoder, 1).values<float>()));
}

TEST_F(Checkpoints, in_f16_are_converted) {
  const ModelConfig config = small_model();
  const Decoder decoder(config);
  write_model(model(), config, random_tensors(decoder, pool_, all(StoredType::F16)));
  const Checkpoint checkpoint(model());
  for (size_t i = 0; i < decoder.parameters().size(); ++i) {
    EXPECT_EQ(checkpoint.stored_type(i), StoredType::F16);
    const Tensor wide = checkpoint.read(pool_, i, DType::F32);
    const Tensor narrow = checkpoint.read(pool_, i, DType::BF16);
    const Tensor original = random_values(pool_, decoder, i);
    for (int64_t at = 0; at < wide.count(); ++at) {
      const float expected = to_float(to_f16(original.data<float>()[at]));
      ASSERT_EQ(wide.data<float>()[at], expected);
      ASSERT_EQ(narrow.data<Bf16>()[at].bits, to_bf16(expected).bits);
    }
  }
}

TEST_F(Checkpoints, keep_norms_in_f32_also_when_matrices_are_bf16) {
  write(small_model(), StoredType::BF16);
  Engine engine;
  const auto decoder = load_model(engine, model(), DType::BF16);
  for (const NamedParameter& named : decoder->parameters()) {
    EXPECT_EQ(named.parameter->value.dtype(), named.shape.rank() == 1 ? DType::F32 : DType::BF16)
        << named.parameter->name;
  }
}

TEST_F(Checkpoints, live_on_in_the_tensors_that_were_read) {
  write(small_model(), StoredType::F32);
  Tensor kept;
  {
    const Checkpoint checkpoint(model());
    kept = checkpoint.read(pool_, 0, DType::F32);
  }
  fs::remove_all(model());
  const Decoder decoder(small_model());
  EXPECT_TRUE(std::ranges::equal(kept.values<float>(), random_values(pool_, decoder, 0).values<float>()));
}

TEST_F(Checkpoints, run_after_their_files_are_gone) {
  fs::copy(golden("tiny_gate_headwise"), model());
  const SafetensorsFile expected(golden("tiny_gate_headwise") / "expected.safetensors");
  Engine engine;
  const auto decoder = load_model(engine, model(), DType::F32);
  fs::remove_all(model());
  expect_agreement(trace({engine}, *decoder, ids_of(expected)), expected);
}

// What is refused.

TEST_F(Checkpoints, list_the_tensors_that_are_missing) {
  write_some(small_model(), [](std::vector<TensorOutput>& tensors) {
    std::erase_if(tensors, [](const TensorOutput& each) { return each.name.ends_with("k_norm.weight"); });
  });
  EXPECT_BAD_INPUT(Checkpoint{model()}, model().string() +
                                            ": missing tensors: model.layers.0.self_attn.k_norm.weight, "
                                            "model.layers.1.self_attn.k_norm.weight");
}

TEST_F(Checkpoints, list_only_the_first_of_many_missing_tensors) {
  write_some(small_model(), [](std::vector<TensorOutput>& tensors) { tensors.resize(1); });
  try {
    const Checkpoint checkpoint(model());
    FAIL() << "opened a model without weights";
  } catch (const Error& error) {
    EXPECT_TRUE(std::string(error.what()).ends_with(" and 18 more")) << error.what();
  }
}

TEST_F(Checkpoints, list_the_tensors_that_nobody_asked_for) {
  write_some(small_model(), [&](std::vector<TensorOutput>& tensors) {
    tensors.push_back(tensor_output("model.layers.2.extra", Tensor::zeros(pool_, {1}, DType::F32)));
    tensors.push_back(tensor_output("lora.a", Tensor::zeros(pool_, {1}, DType::F32)));
  });
  EXPECT_BAD_INPUT(Checkpoint{model()},
                   model().string() +
                       ": unexpected tensors: model.layers.2.extra, lora.a (config.json describes another "
                       "model than the file holds)");
}

// A packed matrix read as a plain one would give plausible nonsense.
TEST_F(Checkpoints, refuse_a_gate_that_the_configuration_does_not_have) {
  const ModelConfig config = small_model(GateLayout::PackedPerGroup, {{}});
  const Decoder decoder(config);
  write_model(model(), small_model(), random_tensors(decoder, pool_, all(StoredType::F32)));
  Engine engine;
  EXPECT_BAD_INPUT(
      load_model(engine, model(), DType::F32),
      (model() / "model.safetensors").string() +
          ": tensor \"model.layers.0.self_attn.q_proj.weight\": shape: expected [32, 32], got [64, 32]");
}

TEST_F(Checkpoints, do_not_mind_tensors_that_follow_from_the_others) {
  ModelConfig config = small_model();
  config.tied = true;
  write_some(config, [&](std::vector<TensorOutput>& tensors) {
    tensors.push_back(tensor_output("lm_head.weight", Tensor::zeros(pool_, {50, 32}, DType::F32)));
    tensors.push_back(
        tensor_output("model.layers.0.self_attn.rotary_emb.inv_freq", Tensor::zeros(pool_, {4}, DType::F32)));
  });
  EXPECT_EQ(Checkpoint(model()).config(), config);
}

TEST_F(Checkpoints, are_directories) {
  const std::string hint = ": not a model directory (it holds config.json and model.safetensors)";
  EXPECT_BAD_INPUT(Checkpoint{model()}, model().string() + hint);
  const fs::path file = directory_.file("file", "x");
  EXPECT_BAD_INPUT(Checkpoint{file}, file.string() + hint);
  fs::create_directory(model());
  EXPECT_THROW(Checkpoint{model()}, Error) << "no config.json in it";
}

// A model with one value changed, in the parameter of that number.
void write_with(const fs::path& directory, const ModelConfig& config, StoredType type, size_t changed,
                float value) {
  fs::remove_all(directory);
  MemoryPool pool;
  const Decoder decoder(config);
  const auto values = [&](size_t parameter) {
    const Tensor tensor = random_values(pool, decoder, parameter);
    if (parameter == changed) tensor.data<float>()[3] = value;
    return tensor;
  };
  write_model(directory, config,
              checkpoint_tensors(decoder, pool, {.values = values, .stored_type = all(type)}));
}

TEST_F(Checkpoints, with_a_weight_that_is_not_finite_are_refused_with_its_place) {
  const ModelConfig config = small_model();
  const std::string name = Decoder(config).parameters()[2].parameter->name;
  for (const StoredType type : {StoredType::F32, StoredType::BF16, StoredType::F16}) {
    write_with(model(), config, type, 2, -std::numeric_limits<float>::infinity());
    for (const DType dtype : {DType::F32, DType::BF16, DType::I8}) {
      Engine engine;
      EXPECT_BAD_INPUT(load_model(engine, model(), dtype),
                       (model() / "model.safetensors").string() + ": " + name +
                           "[3] is -inf: expected finite weights (--allow-nonfinite loads it all the same)");
      EXPECT_NO_THROW(Checkpoint(model(), NonFinite::Allowed).load(engine, dtype));
    }
  }
}

// Values of the file, wherever the parameters are packed; a norm as well as a matrix.
TEST_F(Checkpoints, with_any_weight_that_is_not_finite_are_refused) {
  const ModelConfig config = small_model(GateLayout::PackedPerGroup, {{}});
  const size_t count = Decoder(config).parameters().size();
  for (size_t changed = 0; changed < count; ++changed) {
    write_with(model(), config, StoredType::F32, changed, std::nanf(""));
    Engine engine;
    EXPECT_THROW(load_model(engine, model(), DType::F32), Error) << changed;
  }
}

// One line that names the tensor, whichever of them does not fit.
TEST_F(Checkpoints, with_experts_that_do_not_fit_are_refused) {
  ModelConfig config = small_model();
  config.moe = {.experts = 4, .experts_per_token = 2, .expert_width = 16};
  const auto with_shape = [&](const std::string& name, const Shape& shape) {
    fs::remove_all(model());
    write_some(config, [&](std::vector<TensorOutput>& tensors) {
      const auto found = std::ranges::find(tensors, "model.layers.1.mlp." + name, &TensorOutput::name);
      ASSERT_NE(found, tensors.end());
      found->info.shape = shape;
      found->values = [&, shape] { return Tensor::zeros(pool_, shape, DType::F32); };
    });
    return [this] {
      Engine engine;
      load_model(engine, model(), DType::F32);
    };
  };
  const auto expect_refused = [](const auto& load, const std::string& name) {
    try {
      load();
      ADD_FAILURE() << name << " is not refused";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::BadInput);
      EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
    }
  };
  expect_refused(with_shape("gate.weight", {5, 32}), "model.layers.1.mlp.gate.weight");
  expect_refused(with_shape("experts.2.up_proj.weight", {15, 32}),
                 "model.layers.1.mlp.experts.2.up_proj.weight");
}

TEST_F(Checkpoints, keep_routers_in_f32_whatever_the_type) {
  ModelConfig config = small_model();
  config.moe = {.experts = 4, .experts_per_token = 2, .expert_width = 16, .shared_width = 8};
  write(config, StoredType::BF16);
  for (const DType dtype : {DType::F32, DType::BF16, DType::I8}) {
    Engine engine;
    const auto decoder = load_model(engine, model(), dtype);
    for (const NamedParameter& named : decoder->parameters()) {
      if (named.use != MatrixUse::Router) continue;
      ASSERT_TRUE(named.parameter->value.defined());
      EXPECT_EQ(named.parameter->value.dtype(), DType::F32) << named.parameter->name;
    }
  }
}

}  // namespace
}  // namespace sluice
