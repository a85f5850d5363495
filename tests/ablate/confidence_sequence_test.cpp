#include "sluice/ablate/confidence_sequence.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "sluice/ablate/stopping.h"
#include "sluice/base/random.h"

namespace sluice {
namespace {

ConfidenceSequence sequence_of(std::initializer_list<double> values) {
  ConfidenceSequence sequence;
  for (const double value : values) sequence.add(value);
  return sequence;
}

// Values of mean 0, by the number of the draw.
using Draws = std::function<double(const Random&, uint64_t)>;

double exponential(const Random& random, uint64_t i) {
  return -std::log1p(-random.uniform(i)) - 1;
}

double heavy_tailed(const Random& random, uint64_t i) {  // Student's t with 3 degrees of freedom
  double squares = 0;
  for (uint64_t j = 1; j <= 3; ++j) squares += std::pow(random.normal(4 * i + j), 2);
  return random.normal(4 * i) / std::sqrt(squares / 3);
}

double mildly_skewed(const Random& random, uint64_t i) {  // skewness 1, as a mean of a few exponentials has
  double sum = 0;
  for (uint64_t j = 0; j < 4; ++j) sum += exponential(random, 4 * i + j);
  return sum;
}

double usual(const Random& random, uint64_t i) {
  return random.normal(i);
}

bool ever_misses(const Draws& draws, const Random& random, double error, int values) {
  ConfidenceSequence sequence;
  for (uint64_t i = 0; i < static_cast<uint64_t>(values); ++i) {
    sequence.add(draws(random, i));
    const std::optional<Interval> interval = sequence.interval(error);
    if (interval && (interval->low > 0 || interval->high < 0)) return true;
  }
  return false;
}

double share_of_misses(const Draws& draws, double error) {
  constexpr uint64_t kTrials = 1000;
  int misses = 0;
  for (uint64_t i = 0; i < kTrials; ++i) misses += ever_misses(draws, Random(7).child(i), error, 50) ? 1 : 0;
  return misses / static_cast<double>(kTrials);
}

TEST(ConfidenceSequence, ever_misses_at_most_as_often_as_it_says) {
  EXPECT_LE(share_of_misses(usual, 0.05), 0.05);
  EXPECT_LE(share_of_misses(heavy_tailed, 0.05), 0.05);
  EXPECT_LE(share_of_misses(mildly_skewed, 0.05), 0.05);
  EXPECT_LE(share_of_misses(exponential, 0.05), 0.06) << "one-sided tails are as far as it goes";
}

TEST(ConfidenceSequence, misses_for_a_family_of_skewed_runs_no_more_than_for_one) {
  constexpr uint64_t kFamilies = 200, kRuns = 20;
  int misses = 0;
  for (uint64_t family = 0; family < kFamilies; ++family) {
    bool any = false;
    for (uint64_t run = 0; run < kRuns && !any; ++run)
      any = ever_misses(mildly_skewed, Random(3).child(family).child(run), 0.05 / kRuns, 40);
    misses += any ? 1 : 0;
  }
  EXPECT_LE(misses, kFamilies * 0.05);
}

TEST(ConfidenceSequence, says_nothing_of_few_values) {
  ConfidenceSequence sequence;
  for (int i = 0; i < 7; ++i) sequence.add(1);
  EXPECT_FALSE(sequence.half_width(0.05));
  EXPECT_EQ(sequence.p_of_zero(), 1);
  sequence.add(1);
  EXPECT_EQ(sequence.half_width(0.05).value(), 0) << "they do not vary";
  EXPECT_FALSE(sequence.half_width(1e-30)) << "too few for so small an error";
}

TEST(ConfidenceSequence, gets_narrower_with_values_and_wider_with_certainty) {
  ConfidenceSequence sequence;
  double last = INFINITY;
  for (uint64_t i = 0; i < 200; ++i) {
    sequence.add(Random(1).normal(i));
    if (i == 19 || i == 59 || i == 199) {
      EXPECT_LT(sequence.half_width(0.05).value(), last);
      EXPECT_LT(sequence.half_width(0.05).value(), sequence.half_width(0.0005).value());
      last = *sequence.half_width(0.05);
    }
  }
  EXPECT_LT(last, 0.5) << "of a standard deviation, after 200 values";
}

TEST(ConfidenceSequence, reaches_farther_to_the_side_of_a_long_tail) {
  ConfidenceSequence sequence;
  for (uint64_t i = 0; i < 30; ++i) sequence.add(exponential(Random(3), i));
  const Interval found = sequence.interval(0.01).value();
  EXPECT_GT(found.high - sequence.mean(), sequence.mean() - found.low);
  EXPECT_NEAR(sequence.half_width(0.01).value(), (found.high - found.low) / 2, 1e-12);
}

TEST(ConfidenceSequence, does_not_depend_on_unit_or_origin) {
  ConfidenceSequence values, scaled;
  for (uint64_t i = 0; i < 30; ++i) {
    const double value = Random(2).normal(i);
    values.add(value);
    scaled.add(1000 * value + 5e6);
  }
  EXPECT_NEAR(scaled.half_width(0.01).value(), 1000 * values.half_width(0.01).value(), 1e-5);
}

TEST(ConfidenceSequence, has_a_p_value_that_fits_its_interval) {
  ConfidenceSequence sequence;
  for (uint64_t i = 0; i < 30; ++i) sequence.add(1.2 + Random(4).normal(i));
  const double p = sequence.p_of_zero();
  EXPECT_LT(p, 0.05);
  EXPECT_GT(sequence.interval(p * 1.001).value().low, 0);
  EXPECT_LE(sequence.interval(p * 0.999).value().low, 0);
}

TEST(Stopping, knows_worse_better_equivalent_and_what_is_open) {
  const StoppingRule rule{.margin = 0.1};
  EXPECT_EQ(verdict_of(sequence_of({2, 2.1, 1.9, 2, 2.05, 1.95, 2, 2, 2.1, 1.9}), rule), RunVerdict::Worse);
  EXPECT_EQ(verdict_of(sequence_of({-2, -2.1, -1.9, -2, -2.05, -1.95, -2, -2, -2.1, -1.9}), rule),
            RunVerdict::Better);
  EXPECT_EQ(verdict_of(sequence_of({0, .01, -.01, 0, .01, -.01, 0, 0, .01, -.01}), rule),
            RunVerdict::Equivalent);
  EXPECT_EQ(verdict_of(sequence_of({0, 1, -1, 0, 1, -1, 0, 0, 1, -1}), rule), RunVerdict::Undecided);
  EXPECT_EQ(verdict_of(sequence_of({2, 2.1}), rule), RunVerdict::Undecided);
}

TEST(Stopping, lets_a_run_rest_when_it_is_precise_and_decided) {
  const auto effect = sequence_of({2, 2.1, 1.9, 2, 2.05, 1.95, 2, 2, 2.1, 1.9});
  EXPECT_TRUE(may_rest(effect, {.relative = 0.5}));
  EXPECT_FALSE(may_rest(effect, {.relative = 1e-6, .absolute = 1e-6}));
  EXPECT_TRUE(may_rest(effect, {.relative = 1e-6, .absolute = 1}));
  const auto none = sequence_of({0, .001, -.001, 0, .001, -.001, 0, 0, .001, -.001});
  EXPECT_TRUE(may_rest(none, {})) << "null effects rest, too";
  EXPECT_FALSE(may_rest(none, {.absolute = 10, .margin = 0})) << "its verdict is open";
}

}  // namespace
}  // namespace sluice
