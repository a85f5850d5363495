#include "sluice/analysis/pulse.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sluice/base/json.h"
#include "sluice/model/checkpoint.h"
#include "sluice/nn/tap_points.h"
#include "tests/data/shard_file.h"
#include "tests/probe/golden.h"

namespace sluice {
namespace {

// Captures of two heads, made by hand.
class PulseOfCaptures : public testing::Test {
 protected:
  // [tokens, 2]
  void sink(int64_t layer, const std::vector<float>& values) {
    visit(layer, points::kSink, {static_cast<int64_t>(values.size()) / 2, 2}, values);
  }

  void visit(int64_t layer, std::string_view point, const Shape& shape, const std::vector<float>& values) {
    const Tensor tensor = Tensor::from<float>(engine_.pool(), shape, values);
    EXPECT_TRUE(probe_.wants({layer, point}));
    EXPECT_EQ(probe_.visit({engine_}, {layer, point}, tensor).data<float>(), tensor.data<float>())
        << "nothing is changed";
  }

  void begin(const std::vector<int64_t>& lengths) {
    sequences_ = Sequences::of_lengths(lengths);
    probe_.begin_pass({sequences_});
  }

  Engine engine_;
  Sequences sequences_;
  PulseProbe probe_;
};

TEST_F(PulseOfCaptures, has_the_mean_sink_over_heads_and_queries_then_layers) {
  begin({6});
  sink(0, {1, 1, 1, 1, 1, 1, 1, 1, 0.5F, 0.25F, 0.5F, 0.75F});
  sink(1, {1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  const Pulse pulse = probe_.pulse();
  EXPECT_DOUBLE_EQ(pulse.sink, (10.0 / 12 + 2.0 / 12) / 2);
  EXPECT_DOUBLE_EQ(pulse.sink_late, (0.5 + 0.0) / 2) << "without the first 4 queries";
}

TEST_F(PulseOfCaptures, leaves_out_the_first_queries_of_each_sequence) {
  begin({5, 2, 6});
  std::vector<float> values(26, 1.0F);
  for (const size_t token : {4, 11, 12}) values[2 * token] = values[2 * token + 1] = 0.25F;
  sink(0, values);
  EXPECT_DOUBLE_EQ(probe_.pulse().sink_late, 0.25);
  EXPECT_DOUBLE_EQ(probe_.pulse().sink, (20 + 6 * 0.25) / 26);
  EXPECT_EQ(probe_.pulse().sequences, 3);
  EXPECT_EQ(probe_.pulse().tokens, 13);
}

// Query i of uniform causal attention gives 1/i to the first key: H_n / n over n queries.
TEST_F(PulseOfCaptures, has_the_sink_of_uniform_attention_as_floor) {
  begin({4});
  EXPECT_DOUBLE_EQ(probe_.pulse().sink_floor, (1 + 1.0 / 2 + 1.0 / 3 + 1.0 / 4) / 4);
  begin({1, 2});
  EXPECT_DOUBLE_EQ(probe_.pulse().sink_floor, (25.0 / 48 + 1 + 0.75) / 3) << "a mean over sequences";
}

TEST_F(PulseOfCaptures, has_the_largest_activation_of_each_layer) {
  begin({2});
  visit(0, points::kResidual, {2, 3}, {1, -7, 2, 3, 0, 5});
  visit(1, points::kResidual, {2, 3}, {1, 2, 3, 3, 2, 1});
  begin({1});
  visit(1, points::kResidual, {1, 3}, {0, 9, 0});
  EXPECT_DOUBLE_EQ(probe_.pulse().max_activation, (7 + 9) / 2.0);
}

TEST_F(PulseOfCaptures, has_the_mean_of_the_gates_and_the_share_of_closed_ones) {
  begin({2});
  visit(0, points::kGate, {2, 2, 1}, {0.05F, 0.5F, 0.5F, 1});
  visit(2, points::kGate, {2, 2, 1}, {0.25F, 0, 0.09F, 0.11F});
  const Pulse pulse = probe_.pulse();
  EXPECT_TRUE(pulse.gated);
  EXPECT_NEAR(pulse.gate_mean, 2.5 / 8, 1e-7);
  EXPECT_DOUBLE_EQ(pulse.gate_closed, 3.0 / 8);
}

TEST_F(PulseOfCaptures, tells_of_gates_only_if_there_are_any) {
  begin({2});
  sink(0, {1, 1, 0.5F, 0.5F});
  EXPECT_FALSE(probe_.pulse().gated);
  EXPECT_EQ(to_json(probe_.pulse()), (nlohmann::ordered_json{{"sink", 0.75},
                                                             {"sink_floor", 0.75},
                                                             {"sink_without_first_4", 0.0},
                                                             {"max_activation", 0.0},
                                                             {"pulse_sequences", 1}}));
  visit(0, points::kGate, {2, 1, 1}, {0.5F, 0});
  EXPECT_EQ(to_json(probe_.pulse())["gate_mean"], 0.25);
  EXPECT_EQ(to_json(probe_.pulse())["gate_below_0.1"], 0.5);
}

TEST_F(PulseOfCaptures, is_all_zeros_if_nothing_passed) {
  EXPECT_EQ(to_json(probe_.pulse())["sink"], 0.0);
}

TEST(Pulse, agrees_with_the_official_code) {
  for (const char* name : {"tiny_baseline", "tiny_gate_headwise", "tiny_gate_elementwise"}) {
    Engine engine;
    const auto decoder = load_model(engine, golden(name), DType::F32);
    PulseProbe probe;
    decoder->forward({engine, nullptr, &probe},
                     ids_of(SafetensorsFile(golden(name) / "expected.safetensors")));
    const Json expected = Json::load(golden(name) / "expected.json");
    const Pulse pulse = probe.pulse();
    EXPECT_NEAR(pulse.sink, expected.number("sink_mean"), 1e-5) << name;
    EXPECT_NEAR(pulse.max_activation, expected.number("m_act_mean_of_layer_max"), 2e-4) << name;
    EXPECT_EQ(pulse.gated, expected.contains("gate_mean")) << name;
    EXPECT_NEAR(pulse.gate_mean, expected.number_or("gate_mean", 0.0), 1e-5) << name;
  }
}

TEST(Pulse, is_measured_over_the_first_sequences) {
  Engine engine;
  const auto decoder = load_model(engine, golden("tiny_gate_headwise"), DType::F32);
  const TemporaryDirectory directory;
  const auto path = directory.path() / "t.tokens";
  std::vector<TokenId> document;
  for (TokenId i = 0; i < 60; ++i) document.push_back(i * 7 % 128);
  write_shard(path, {document}, {.vocabulary = 128, .end_of_text = 0});
  const PackedSequences sequences({TokenShard(path)}, {.length = 10});
  ASSERT_EQ(sequences.count(), 6);

  PulseProbe two;
  for (const size_t first : {0, 10})
    decoder->forward({engine, nullptr, &two}, std::span(document).subspan(first, 10));
  const Pulse measured = measure_pulse({engine}, *decoder, sequences, 2);
  EXPECT_EQ(to_json(measured), to_json(two.pulse()));
  EXPECT_EQ(measure_pulse({engine}, *decoder, sequences).sequences, 4);
  EXPECT_EQ(measure_pulse({engine}, *decoder, sequences, 100).sequences, 6);
}

}  // namespace
}  // namespace sluice
