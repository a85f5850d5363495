// Speeds of a model, a training step and a tokenizer: what is counted and told, not how fast they are.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sluice/bench/model.h"
#include "sluice/bench/tokenizer.h"
#include "sluice/bench/train.h"
#include "sluice/data/tokenizer_training.h"
#include "sluice/model/count.h"
#include "sluice/model/random_model.h"
#include "tests/base/expect_error.h"
#include "tests/base/temporary_directory.h"
#include "tests/model/small_model.h"

namespace sluice::bench {
namespace {

using Json = nlohmann::ordered_json;

void expect_share_of_peak(const Json& json) {
  const double share = json.at("rate").get<double>() / json.at("peak").get<double>();
  EXPECT_NEAR(json.at("share").get<double>(), share, 0.002 * share) << json;
  EXPECT_GT(share, 0) << json;
}

// A directory with a model and nothing else: no tokenizer.
class ModelSpeeds : public testing::Test {
 protected:
  ModelSpeeds() { write_random_model({.config = small_model()}, Threads(1), request_.model); }

  TemporaryDirectory directory_;
  Engine engine_{EngineOptions{.threads = 1}};
  ModelRequest request_{.model = directory_.path() / "model", .tokens = 4, .repetitions = 1};
};

TEST_F(ModelSpeeds, compare_decoding_with_the_weights_that_it_reads) {
  const ModelSpeed speed = measure_decode(engine_, request_);
  const ParameterCount count = count_parameters(small_model());
  EXPECT_EQ(speed.weight_bytes, 4 * count.total());
  EXPECT_EQ(speed.rate.tokens, 3) << "the first comes out of the prompt";
  EXPECT_EQ(speed.rate.measured.amount, 3.0 * 4 * static_cast<double>(count.total() - count.embedding));
  const Json json = to_json(speed);
  EXPECT_EQ(json["what"], "decode");
  EXPECT_EQ(json["share_of"], "read_gb_per_s");
  expect_share_of_peak(json);
}

TEST_F(ModelSpeeds, compare_prefill_with_the_arithmetic_it_needs) {
  const ModelSpeed speed = measure_prefill(engine_, request_);
  EXPECT_EQ(speed.rate.tokens, 4);
  const Json json = to_json(speed);
  EXPECT_EQ(json["unit"], "GFLOP/s");
  EXPECT_EQ(json["dtype"], "f32");
  expect_share_of_peak(json);
  EXPECT_NE(to_text(speed).find("times the weights"), std::string::npos);
}

TEST(TrainSpeeds, count_a_step_and_tell_where_its_time_goes) {
  Engine engine({.threads = 1});
  RunConfig config = reproduction_config({"sequence=16", "batch_tokens=64", "model.num_hidden_layers=1"});
  config.model = small_model();
  const TrainSpeed speed = measure_training(engine, {.config = config, .repetitions = 1});
  EXPECT_EQ(speed.sequences, 4);
  EXPECT_EQ(speed.parameters, count_parameters(small_model()).total());
  EXPECT_EQ(speed.rate.measured.amount, 64 * training_flops_per_token(small_model(), 16));
  const Json json = to_json(speed);
  for (const char* part : {"step", "forward", "backward", "update"})
    EXPECT_GT(json.at("seconds").at(part), 0.0) << part;
  expect_share_of_peak(json);
}

TEST(TokenizerSpeeds, tell_bytes_tokens_and_rates) {
  TemporaryDirectory directory;
  const std::string text = directory.file("a.txt", "ab ab").string();
  const std::string tokenizer = (directory.path() / "t.json").string();
  train_tokenizer({.files = {text}, .out = tokenizer, .vocabulary = 258}, Threads(1));
  const Json json =
      to_json(measure_tokenizer({.tokenizer = tokenizer, .texts = {text, text}, .repetitions = 2}));
  EXPECT_EQ(json["bytes"], 10);
  EXPECT_EQ(json["tokens"], 6) << "ab, space, ab; twice";
  EXPECT_GT(json["mb_per_s"], 0.0);
  EXPECT_GT(json["first_mb_per_s"], 0.0);
}

TEST(TokenizerSpeeds, need_text) {
  TemporaryDirectory directory;
  const std::string empty = directory.file("a.txt", "").string();
  EXPECT_ERROR(measure_tokenizer({.tokenizer = "unused", .texts = {empty}}), ErrorKind::BadInput,
               empty + ": no text in it");
}

}  // namespace
}  // namespace sluice::bench
