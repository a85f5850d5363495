#include "sluice/analysis/permutation_test.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sluice/analysis/ranks.h"
#include "sluice/base/random.h"

namespace sluice {
namespace {

Samples normal(size_t count, double mean, uint64_t stream) {
  Samples samples;
  for (size_t i = 0; i < count; ++i) samples.push_back(mean + Random(11, stream).normal(i));
  return samples;
}

TEST(PermutationP, is_small_where_groups_differ_and_never_zero) {
  const double p = permutation_p(std::vector{normal(30, 0, 0), normal(30, 3, 1)}, {.draws = 500});
  EXPECT_DOUBLE_EQ(p, 1.0 / 501);
}

// Under the null hypothesis a p below 0.1 comes up in a tenth of the cases.
TEST(PermutationP, is_flat_where_groups_are_alike) {
  int below = 0;
  constexpr int kTrials = 300;
  for (uint64_t i = 0; i < kTrials; ++i)
    below +=
        permutation_p(std::vector{normal(10, 0, 3 * i), normal(10, 0, 3 * i + 1), normal(10, 0, 3 * i + 2)},
                      {.draws = 199, .seed = i}) < 0.1
            ? 1
            : 0;
  EXPECT_NEAR(below / static_cast<double>(kTrials), 0.1, 0.05);
}

TEST(PermutationP, is_one_if_nothing_varies_and_unknown_of_nothing) {
  EXPECT_DOUBLE_EQ(permutation_p(std::vector<Samples>{{1, 1}, {1, 1}}), 1.0);
  EXPECT_TRUE(std::isnan(permutation_p(std::vector<Samples>{{1, 1}})));
  EXPECT_TRUE(std::isnan(permutation_p(std::vector<Samples>{{1, 1}, {}})));
}

TEST(EffectSize, is_the_difference_in_standard_deviations) {
  // Both have the variance 1 (of a sample), so g is the difference, a bit less for so few.
  const Samples a = {1, 2, 3}, b = {0, 1, 2};
  EXPECT_NEAR(effect_size(a, b), 1.0 * (1 - 3.0 / (4 * 4 - 1)), 1e-12);
  EXPECT_DOUBLE_EQ(effect_size(a, a), 0);
  EXPECT_TRUE(std::isnan(effect_size({1}, a)));
}

TEST(Holm, corrects_the_smallest_most_and_keeps_the_order) {
  const std::vector<double> corrected = holm(std::vector{0.01, 0.04, 0.03, std::nan("")});
  EXPECT_DOUBLE_EQ(corrected[0], 0.03);
  EXPECT_DOUBLE_EQ(corrected[1], 0.06);
  EXPECT_DOUBLE_EQ(corrected[2], 0.06);
  EXPECT_TRUE(std::isnan(corrected[3]));
}

TEST(Ranks, share_the_mean_of_equal_values) {
  EXPECT_EQ(ranks(std::vector{3.0, 1.0, 3.0, 0.0}), (std::vector{2.5, 1.0, 2.5, 0.0}));
  EXPECT_DOUBLE_EQ(rank_correlation(std::vector{1.0, 2.0, 9.0}, std::vector{2.0, 3.0, 4.0}), 1.0);
  EXPECT_DOUBLE_EQ(rank_correlation(std::vector{1.0, 2.0, 9.0}, std::vector{4.0, 3.0, 2.0}), -1.0);
  EXPECT_TRUE(std::isnan(rank_correlation(std::vector{1.0, 1.0}, std::vector{2.0, 3.0})));
}

}  // namespace
}  // namespace sluice
