#include "sluice/ablate/statistics.h"

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

TEST(MeanInterval, has_no_jump_where_the_table_of_quantiles_ends) {
  const auto factor = [](int count) {
    std::vector<double> values(static_cast<size_t>(count), 0.0);
    values[0] = 1;
    double squares = 0;
    for (const double value : values) squares += (value - 1.0 / count) * (value - 1.0 / count);
    return *mean_interval(values).half_width / std::sqrt(squares / (count - 1) / count);
  };
  EXPECT_NEAR(factor(21), 2.086, 1e-3);   // the last of the table: 20 degrees of freedom
  EXPECT_NEAR(factor(22), 2.0796, 5e-4);  // the first by formula
  EXPECT_NEAR(factor(31), 2.0423, 5e-4);
}

}  // namespace
}  // namespace sluice
