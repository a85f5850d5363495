// What a validation measures, and the line of metrics.jsonl that it becomes.
#include "sluice/train/validation.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "sluice/eval/perplexity.h"
#include "tests/train/runs.h"

namespace sluice {
namespace {

Validation example() {
  return {.step = 7,
          .loss = 2.5,
          .sequences = 32,
          .length = 128,
          .pulse = {.sink = 0.25,
                    .sink_floor = 0.125,
                    .sink_late = 0.0625,
                    .max_activation = 12,
                    .gated = true,
                    .gate_mean = 0.5,
                    .gate_closed = 0.75,
                    .sequences = 4},
          .sample = "once \"more\""};
}

TEST(Validation, is_a_line_whose_keys_stay) {
  EXPECT_EQ(to_json(example()).dump(),
            R"({"step":7,"validation_loss":2.5,"validation_ppl":12.182493960703473,"sequences":32,)"
            R"("length":128,"sink":0.25,"sink_floor":0.125,"sink_without_first_4":0.0625,)"
            R"("max_activation":12.0,"pulse_sequences":4,"gate_mean":0.5,"gate_below_0.1":0.75,)"
            R"("sample":"once \"more\""})");
}

TEST(Validation, of_a_baseline_has_neither_gates_nor_a_sample_that_nobody_asked_for) {
  Validation validation = example();
  validation.pulse.gated = false;
  validation.sample = {};
  const auto json = to_json(validation);
  for (const char* key : {"gate_mean", "gate_below_0.1", "sample"}) EXPECT_FALSE(json.contains(key)) << key;
}

TEST(Validation, is_read_back_as_it_was_written) {
  for (const bool gated : {true, false}) {
    Validation validation = example();
    validation.pulse.gated = gated;
    const std::string line = to_json(validation).dump();
    EXPECT_EQ(to_json(read_validation(Json::parse(line, "line"))).dump(), line);
  }
}

TEST(Validation, of_an_older_version_has_nan_where_it_says_nothing) {
  const Validation validation = read_validation(Json::parse(R"({"step":3,"validation_loss":2})", "line"));
  EXPECT_EQ(validation.step, 3);
  EXPECT_EQ(validation.loss, 2);
  EXPECT_TRUE(std::isnan(validation.pulse.sink));
  EXPECT_FALSE(validation.pulse.gated);
  EXPECT_FALSE(validation.sample.has_value());
}

// A run and `sluice eval` measure the same thing with the same function.
TEST_F(Runs, validate_with_the_loss_that_eval_gives) {
  for (const Precision precision : {Precision::F32, Precision::Bf16}) {
    Engine engine({.threads = 1});
    RunConfig config = small_run(precision);
    Decoder decoder(config.model);
    decoder.initialise(engine, Random(1));
    const PackedSequences sequences({TokenShard(shard_)}, {.length = config.sequence});
    config.validation.sequences = 3;
    const Validation validation = Validator(config, sequences, {}).validate(engine, decoder, 5);
    double sum = 0;
    std::vector<TokenId> ids(static_cast<size_t>(config.sequence) + 1);
    for (int64_t i = 0; i < 3; ++i) {
      sequences.read(i, ids);
      sum += chunk_nll({engine, nullptr, nullptr, precision}, decoder, ids).sum;
    }
    EXPECT_EQ(validation.loss, sum / (3.0 * static_cast<double>(config.sequence)));
    EXPECT_EQ(validation.step, 5);
    EXPECT_EQ(validation.sequences, 3);
    EXPECT_EQ(validation.length, config.sequence);
    EXPECT_EQ(validation.pulse.sequences, std::min<int64_t>(4, sequences.count()));
    EXPECT_TRUE(validation.pulse.gated);
  }
}

}  // namespace
}  // namespace sluice
