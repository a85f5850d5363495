#include "sluice/model/random_model.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sluice/base/file.h"
#include "sluice/model/checkpoint.h"
#include "tests/base/expect_error.h"
#include "tests/base/temporary_directory.h"
#include "tests/model/model_files.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

class RandomModels : public testing::Test {
 protected:
  fs::path path(const std::string& name) const { return directory_.path() / name; }

  // The bytes of the model's tensors.
  std::string written(const RandomModel& model, int threads = 1) {
    const fs::path out = path(std::to_string(count_++));
    write_random_model(model, Threads(threads), out);
    return read_text(out / "model.safetensors", size_t{1} << 24);
  }

  TemporaryDirectory directory_;
  int count_ = 0;
};

// Large enough that its embedding is shared out among threads.
ModelConfig wide_model() {
  ModelConfig config = small_model(GateLayout::PackedPerGroup, {{}});
  config.vocabulary = 5000;
  return config;
}

TEST_F(RandomModels, are_the_same_for_any_number_of_threads) {
  const std::string one = written({.config = wide_model(), .seed = 3}, 1);
  EXPECT_TRUE(written({.config = wide_model(), .seed = 3}, 2) == one);
  EXPECT_TRUE(written({.config = wide_model(), .seed = 3}, 3) == one);
}

TEST_F(RandomModels, follow_their_seed) {
  const std::string one = written({.config = small_model(), .seed = 1});
  EXPECT_TRUE(written({.config = small_model(), .seed = 1}) == one);
  EXPECT_FALSE(written({.config = small_model(), .seed = 2}) == one);
  EXPECT_FALSE(written({.config = small_model()}) == one);
}

TEST_F(RandomModels, have_the_values_that_training_starts_from) {
  const ModelConfig config = small_model(
      GateLayout::Separate,
      {{.bias = true, .bias_init = -2.0}, {.position = GatePosition::G2, .input = GateInput::Constant}});
  write_random_model({.config = config, .seed = 9}, Threads(1), path("model"));
  Engine engine;
  const auto loaded = load_model(engine, path("model"), DType::F32);
  EXPECT_EQ(loaded->config(), config);
  Decoder fresh(config);
  fresh.initialise(engine, Random(9));
  for (size_t i = 0; i < fresh.parameters().size(); ++i) {
    const Parameter& expected = *fresh.parameters()[i].parameter;
    EXPECT_TRUE(std::ranges::equal(loaded->parameters()[i].parameter->value.values<float>(),
                                   expected.value.values<float>()))
        << expected.name;
  }
}

TEST_F(RandomModels, store_matrices_in_the_type_asked_for_and_the_rest_in_f32) {
  ModelConfig config = small_model(GateLayout::Separate, {{.bias = true}});
  config.qkv_bias = config.o_bias = true;
  write_random_model({.config = config, .dtype = StoredType::BF16}, Threads(1), path("model"));
  const Checkpoint checkpoint(path("model"));
  for (size_t i = 0; i < checkpoint.decoder().parameters().size(); ++i) {
    const NamedParameter& named = checkpoint.decoder().parameters()[i];
    EXPECT_EQ(checkpoint.stored_type(i), named.shape.rank() == 2 ? StoredType::BF16 : StoredType::F32)
        << named.parameter->name;
  }
}

TEST_F(RandomModels, replace_nothing) {
  fs::create_directory(path("model"));
  directory_.file("model/notes.txt", "mine");
  EXPECT_ERROR(write_random_model({.config = small_model()}, Threads(1), path("model")), ErrorKind::Failed,
               path("model").string() + ": is not empty (give a name that does not exist yet)");
  EXPECT_EQ(directory_.entries(), 1U);
}

TEST_F(RandomModels, may_have_experts) {
  ModelConfig config = small_model();
  config.moe = {
      .experts = 4, .experts_per_token = 2, .expert_width = 16, .normalised = true, .shared_width = 8};
  write_random_model({.config = config}, Threads(1), path("model"));
  Engine engine;
  EXPECT_EQ(load_model(engine, path("model"), DType::F32)->config(), config);
}

}  // namespace
}  // namespace sluice
