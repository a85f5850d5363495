#include "sluice/eval/bootstrap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sluice/base/random.h"
#include "sluice/eval/perplexity.h"

namespace sluice {
namespace {

double mean_of(const std::vector<double>& values, std::span<const size_t> draw) {
  double sum = 0;
  for (const size_t i : draw) sum += values[i];
  return sum / static_cast<double>(draw.size());
}

std::optional<Interval> interval_of_mean(const std::vector<double>& values,
                                         const BootstrapOptions& options = {}) {
  return bootstrap(
      values.size(), [&](std::span<const size_t> draw) { return mean_of(values, draw); }, options);
}

constexpr double kTrueMean = 3.0;

// Of 400 data sets of 50 values that were drawn around the true mean.
std::vector<Interval> simulated_intervals() {
  std::vector<Interval> intervals;
  for (uint64_t set = 0; set < 400; ++set) {
    std::vector<float> drawn(50);
    Random(11).child(set).fill_normal(drawn, 0, kTrueMean, 0.7F);
    intervals.push_back(*interval_of_mean({drawn.begin(), drawn.end()}, {.resamples = 400}));
  }
  return intervals;
}

// How often they hold the true mean if they are made `widening` times as wide.
double coverage(const std::vector<Interval>& intervals, double widening) {
  const auto held = std::ranges::count_if(intervals, [&](const Interval& interval) {
    const double centre = (interval.low + interval.high) / 2, half = (interval.high - interval.low) / 2;
    return std::abs(kTrueMean - centre) <= widening * half;
  });
  return static_cast<double>(held) / static_cast<double>(intervals.size());
}

// 380 of 400 intervals are expected to hold the truth, give or take 4.4; the percentile bootstrap of 50
// values is known to be a little too narrow.
TEST(Bootstrap, holds_the_truth_in_95_of_100_data_sets) {
  const std::vector<Interval> intervals = simulated_intervals();
  EXPECT_GE(coverage(intervals, 1.0), 0.91);
  EXPECT_LE(coverage(intervals, 1.0), 0.98);
  // And the test would notice a wrong width.
  EXPECT_LT(coverage(intervals, 0.7), 0.91) << "too narrow";
  EXPECT_GT(coverage(intervals, 1.4), 0.98) << "too wide";
}

TEST(Bootstrap, of_a_mean_is_as_wide_as_theory_says) {
  std::vector<float> drawn(400);
  Random(3).fill_normal(drawn, 0, 0.0F, 1.0F);
  const std::vector<double> values(drawn.begin(), drawn.end());
  const Interval interval = *interval_of_mean(values);
  EXPECT_NEAR(interval.high - interval.low, 2 * 1.96 / std::sqrt(400), 0.02);
}

TEST(Bootstrap, gives_the_same_interval_each_time_and_another_with_another_seed) {
  const std::vector<double> values = {1, 4, 2, 8, 5, 7};
  EXPECT_EQ(interval_of_mean(values)->low, interval_of_mean(values)->low);
  EXPECT_NE(interval_of_mean(values, {.resamples = 50})->low,
            interval_of_mean(values, {.resamples = 50, .seed = 1})->low);
}

TEST(Bootstrap, has_no_interval_for_one_unit) {
  EXPECT_FALSE(interval_of_mean({5.0}).has_value());
  EXPECT_TRUE(to_json(interval_of_mean({5.0})).is_null());
  EXPECT_EQ(to_json(std::optional<Interval>({1.0, 2.0})), nlohmann::ordered_json({1.0, 2.0}));
}

TEST(PerplexityOfChunks, weighs_chunks_by_their_tokens) {
  const std::vector<ChunkNll> chunks = {{.sum = 6, .tokens = 2}, {.sum = 2, .tokens = 6}};
  const Perplexity result = perplexity(chunks);
  EXPECT_EQ(result.tokens, 8);
  EXPECT_DOUBLE_EQ(result.nll, 1.0);
  EXPECT_DOUBLE_EQ(result.ppl, std::exp(1.0));
  EXPECT_DOUBLE_EQ(result.ci95->low, std::exp(1.0 / 3)) << "twice the better chunk";
  EXPECT_DOUBLE_EQ(result.ci95->high, std::exp(3.0));
}

// Chunks differ a lot, models a little: drawn apart, the difference would be lost between the chunks.
TEST(PerplexityOfChunks, are_compared_in_pairs) {
  std::vector<ChunkNll> base, worse;
  for (int i = 0; i < 40; ++i) {
    base.push_back({.sum = 10.0 + i, .tokens = 10});
    worse.push_back({.sum = 10.1 + i, .tokens = 10});
  }
  const PerplexityDifference difference = perplexity_difference(worse, base);
  EXPECT_NEAR(difference.nll, 0.01, 1e-12);
  EXPECT_GT(difference.ci95->low, 0.0);
  EXPECT_LT(difference.ci95->high - difference.ci95->low, 0.02 * perplexity(base).ppl);
  EXPECT_DOUBLE_EQ(perplexity_difference(base, base).ci95->high, 0.0);
  EXPECT_FALSE(perplexity_difference(std::span(base).first(1), std::span(worse).first(1)).ci95.has_value());
}

TEST(Bootstrap, of_several_figures_gives_each_the_interval_that_it_has_alone) {
  const std::vector<double> first = {1, 4, 2, 8, 5}, second = {3, 3, 3, 9, -1};
  const auto both = bootstrap_all(first.size(), [&](std::span<const size_t> draw) {
    return std::vector<double>{mean_of(first, draw), mean_of(second, draw)};
  });
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0]->low, interval_of_mean(first)->low);
  EXPECT_EQ(both[0]->high, interval_of_mean(first)->high);
  EXPECT_EQ(both[1]->low, interval_of_mean(second)->low);
  EXPECT_EQ(both[1]->high, interval_of_mean(second)->high);
  EXPECT_TRUE(bootstrap_all(1, [](std::span<const size_t>) { return std::vector<double>{1.0}; }).empty());
}

}  // namespace
}  // namespace sluice
