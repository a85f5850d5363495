#include "sluice/experiment/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace sluice {
namespace {

TEST(MeanInterval, of_one_value_has_no_width) {
  const MeanInterval interval = mean_interval(std::vector<double>{2.5});
  EXPECT_EQ(interval.mean, 2.5);
  EXPECT_FALSE(interval.half_width.has_value());
}

TEST(MeanInterval, is_students_of_few_values) {
  // Worked by hand: deviations -1, 0, 1; variance 1; 4.303 / sqrt(3).
  const MeanInterval interval = mean_interval(std::vector<double>{1, 2, 3});
  EXPECT_EQ(interval.count, 3);
  EXPECT_DOUBLE_EQ(interval.mean, 2);
  EXPECT_NEAR(*interval.half_width, 2.4843, 1e-3);
}

TEST(MeanInterval, nears_the_normal_one_of_many_values) {
  std::vector<double> values;
  for (int i = 0; i < 1000; ++i) values.push_back(i % 2);  // standard deviation 0.50025
  EXPECT_NEAR(*mean_interval(values).half_width, 1.9623 * 0.50025 / 31.6228, 1e-5);
}

TEST(MeanInterval, is_wider_if_it_may_miss_less_often) {
  const std::vector<double> values = {1, 2, 3, 4, 5};
  EXPECT_NEAR(*mean_interval(values, 0.01).half_width / *mean_interval(values).half_width, 4.6041 / 2.7764,
              1e-4);
}

TEST(ShareInterval, is_clopper_and_pearsons) {
  // Of nothing out of n: 1 - 0.025^(1/n).
  EXPECT_EQ(share_interval(0, 5).low, 0);
  EXPECT_NEAR(share_interval(0, 5).high, 0.52182, 1e-5);
  EXPECT_NEAR(share_interval(0, 180).high, 0.020285, 1e-5);
  EXPECT_NEAR(share_interval(5, 5).low, 1 - 0.52182, 1e-5);
  EXPECT_EQ(share_interval(5, 5).high, 1);
  // Two out of ten, as tables have it.
  EXPECT_NEAR(share_interval(2, 10).low, 0.02521, 1e-5);
  EXPECT_NEAR(share_interval(2, 10).high, 0.55610, 1e-5);
}

TEST(StudentLimit, is_what_tables_say) {
  EXPECT_NEAR(student_limit(0.05, 1), 12.7062, 1e-4);
  EXPECT_NEAR(student_limit(0.05, 2), 4.30265, 1e-5);
  EXPECT_NEAR(student_limit(0.05, 9), 2.26216, 1e-5);
  EXPECT_NEAR(student_limit(0.05, 30), 2.04227, 1e-5);
  EXPECT_NEAR(student_limit(0.01, 4), 4.60409, 1e-5);
  EXPECT_NEAR(student_limit(0.01, 7), 3.49948, 1e-5);
  EXPECT_NEAR(student_limit(0.5, 3), 0.76489, 1e-5);
}

}  // namespace
}  // namespace sluice
