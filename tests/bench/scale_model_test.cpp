#include "sluice/bench/scale_model.h"

#include <gtest/gtest.h>

#include "sluice/bench/scale.h"
#include "sluice/bench/train.h"
#include "tests/dist/thread_ranks.h"

namespace sluice::bench {
namespace {

TEST(ScaleModel, finds_latency_and_bandwidth_of_a_link) {
  std::vector<LinkSample> samples;
  for (const double bytes : {64.0, 4096.0, 65536.0, 1e6}) samples.push_back({bytes, 3e-6 + bytes / 2e9});
  const Link link = fit_link(samples);
  EXPECT_NEAR(link.latency, 3e-6, 1e-12);
  EXPECT_NEAR(link.bandwidth / 2e9, 1, 1e-9);
}

TEST(ScaleModel, never_finds_a_negative_latency) {
  const std::vector<LinkSample> samples = {{1000, 1e-6}, {2000, 3e-6}};
  EXPECT_EQ(fit_link(samples).latency, 0);
}

// docs/scaling.md has these figures.
TEST(ScaleModel, predicts_what_the_plan_says) {
  const StepModel step{.parameters = 51'000'000, .buckets = 25};
  const Link network{.latency = 2e-6, .bandwidth = 12.5e9};
  EXPECT_NEAR(volume_of(step, ReduceOrder::Exact, 8).bytes, 357e6, 1e6);
  EXPECT_NEAR(volume_of(step, ReduceOrder::FastBf16, 8).bytes, 268e6, 1e6);
  EXPECT_EQ(volume_of(step, ReduceOrder::Fast, 1024).messages, 51150);
  EXPECT_NEAR(predict_step(step, network, ReduceOrder::Exact, 8, false), 29e-3, 1e-3);
  EXPECT_NEAR(predict_step(step, network, ReduceOrder::Exact, 1024, true), 135e-3, 1e-3);
  EXPECT_NEAR(state_bytes(step, 8), 0.46e9, 0.01e9);
  EXPECT_EQ(volume_of(step, ReduceOrder::Fast, 1).bytes, 0);
}

TEST(ScaleModel, shares_arithmetic_out_and_hides_no_more_than_there_is) {
  const StepModel step{.parameters = 1000, .buckets = 1, .compute = 8, .update = 4, .hidden = 1};
  const Link instant{.latency = 0, .bandwidth = 1e30};
  EXPECT_NEAR(predict_step(step, instant, ReduceOrder::Fast, 4, false), 2 + 1, 1e-9);
  EXPECT_NEAR(predict_step(step, instant, ReduceOrder::Fast, 4, true), 8 + 1, 1e-9);
  const Link slow{.latency = 0, .bandwidth = 1};  // bytes take seconds
  const double exact = predict_step(step, slow, ReduceOrder::Exact, 2, false);
  EXPECT_NEAR(exact - predict_step(step, slow, ReduceOrder::Fast, 2, false), 8.0 / 2 * 2 / 3, 1e-9);
}

TEST(ScaleModel, is_asked_about_the_ranks_at_hand_once) {
  EXPECT_EQ(predicted_nodes(1), (std::vector{8, 64, 1024}));
  EXPECT_EQ(predicted_nodes(2), (std::vector{2, 8, 64, 1024}));
  EXPECT_EQ(predicted_nodes(8), (std::vector{8, 64, 1024}));
  EXPECT_EQ(predicted_nodes(96), (std::vector{8, 64, 96, 1024}));
}

TEST(MeasureScale, takes_steps_on_1_2_and_3_ranks_in_every_order) {
  const RunConfig config = read_run_config(sluice::Json::parse(
      R"({"model": "tiny-headwise", "sequence": 8, "batch_tokens": 24, "steps": 1})", "test"));
  sluice::test::on_ranks(3, [&](Ranks& ranks) {
    Engine engine({.threads = 1});
    const ScaleResult result = measure_scale(engine, ranks, {.config = config, .repetitions = 1});
    if (!ranks.is_first()) return;
    ASSERT_EQ(result.cases.size(), 18U) << "three groups, strong and weak, three orders";
    EXPECT_EQ(result.cases.back().ranks, 3);
    EXPECT_GT(result.cases.back().sent.bytes, result.parameters * 3.0);
    for (const ScaleCase& each : result.cases) {
      EXPECT_EQ(each.rank_tokens, each.weak ? 24 : 24 / each.ranks) << "a batch for all, or one on each";
    }
    EXPECT_GT(result.link.bandwidth, 0);
    EXPECT_EQ(result.predictions.size(), 12U) << "three orders, on three networks and on the ranks at hand";
    EXPECT_NE(to_text(result).find("3 x 1"), std::string::npos);
    EXPECT_NE(to_text(result).find("Predicted, not measured"), std::string::npos);
  });
}

TEST(MeasureScale, is_refused_with_more_ranks_than_sequences) {
  const RunConfig config = read_run_config(sluice::Json::parse(
      R"({"model": "tiny-headwise", "sequence": 8, "batch_tokens": 8, "steps": 1})", "test"));
  sluice::test::on_ranks(2, [&](Ranks& ranks) {
    Engine engine({.threads = 1});
    EXPECT_THROW(measure_scale(engine, ranks, {.config = config, .repetitions = 1}), Error);
  });
}

}  // namespace
}  // namespace sluice::bench
