#include "sluice/analysis/distribution.h"

#include <gtest/gtest.h>

#include <vector>

namespace sluice {
namespace {

std::vector<float> steps(int count) {
  std::vector<float> values;
  for (int i = 0; i < count; ++i)
    values.push_back((static_cast<float>(i) + 0.5F) / static_cast<float>(count));
  return values;
}

TEST(Distribution, has_exact_moments_and_shares) {
  Distribution values;
  values.add(std::vector<float>{0.05F, 0.1F, 0.3F, 0.5F, 0.95F});
  EXPECT_EQ(values.count(), 5);
  EXPECT_NEAR(values.moments().mean(), 0.38, 1e-7);
  EXPECT_DOUBLE_EQ(values.closed(), 0.2) << "0.1 itself is not below 0.1";
  EXPECT_DOUBLE_EQ(values.below_half(), 0.6);
  EXPECT_DOUBLE_EQ(values.open(), 0.2);
  EXPECT_FLOAT_EQ(static_cast<float>(values.lowest()), 0.05F);
  EXPECT_FLOAT_EQ(static_cast<float>(values.highest()), 0.95F);
}

TEST(Distribution, tells_quantiles_to_the_width_of_a_bin) {
  Distribution values;
  values.add(steps(100'000));
  for (const double at : {0.05, 0.25, 0.5, 0.75, 0.95}) EXPECT_NEAR(values.quantile(at), at, 1e-4) << at;
}

TEST(Distribution, of_parts_added_together_is_that_of_all) {
  Distribution whole, first, second;
  const std::vector<float> values = steps(1000);
  whole.add(values);
  first.add(std::span(values).first(300));
  second.add(std::span(values).subspan(300));
  first.add(second);
  EXPECT_EQ(first.count(), whole.count());
  EXPECT_NEAR(first.moments().deviation(), whole.moments().deviation(), 1e-12);
  EXPECT_DOUBLE_EQ(first.quantile(0.3), whole.quantile(0.3));
  EXPECT_DOUBLE_EQ(first.closed(), whole.closed());
}

TEST(Distribution, has_coarser_bins_for_what_is_larger_than_a_gate) {
  Distribution values;
  std::vector<float> wide = steps(10'000);
  for (float& value : wide) value = 40 * (value - 0.5F);
  values.add(wide);
  for (const double at : {0.05, 0.25, 0.75, 0.95})
    EXPECT_NEAR(values.quantile(at), 40 * (at - 0.5), 0.07 * std::abs(40 * (at - 0.5))) << at;
  EXPECT_NEAR(values.quantile(0.5), 0, 0.01);
  EXPECT_NEAR(values.bimodality(), 5.0 / 9, 0.01);
  EXPECT_NEAR(values.histogram(-20, 20, 4)[0], 0.25, 0.02);
  EXPECT_DOUBLE_EQ(values.quantile(0.0), values.lowest());
  EXPECT_DOUBLE_EQ(values.quantile(1.0), values.highest());
}

TEST(Distribution, leaves_out_what_is_no_number) {
  Distribution values;
  values.add(std::vector<float>{0.5F, std::nanf(""), -std::numeric_limits<float>::infinity()});
  EXPECT_EQ(values.count(), 1);
  EXPECT_DOUBLE_EQ(values.moments().mean(), 0.5);
}

TEST(Distribution, knows_two_humps_from_one) {
  Distribution flat, humps, one;
  flat.add(steps(10'000));
  humps.add(std::vector<float>(500, 0.1F));
  humps.add(std::vector<float>(500, 0.9F));
  for (const float value : steps(1000))
    one.add(std::vector<float>{0.5F + 0.4F * (value - 0.5F) * std::abs(value - 0.5F)});
  EXPECT_NEAR(flat.bimodality(), 5.0 / 9, 1e-3);
  EXPECT_GT(humps.bimodality(), 0.99);
  EXPECT_LT(one.bimodality(), 0.5);
}

TEST(Distribution, sums_a_histogram_to_the_share_inside_it) {
  Distribution values;
  values.add(steps(1000));
  const std::vector<double> shares = values.histogram(0, 0.5, 10);
  ASSERT_EQ(shares.size(), 10U);
  for (const double share : shares) EXPECT_NEAR(share, 0.05, 1e-3);
}

}  // namespace
}  // namespace sluice
