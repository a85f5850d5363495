#include "sluice/report/number_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace sluice {
namespace {

TEST(NumberText, has_four_significant_digits_alone) {
  EXPECT_EQ(number_text(0.43812), "0.4381");
  EXPECT_EQ(number_text(0.5), "0.5000");
  EXPECT_EQ(number_text(-12.3456), "-12.35");
  EXPECT_EQ(number_text(1234567.8), "1,234,568");
  EXPECT_EQ(number_text(0.0), "0");
  EXPECT_EQ(number_text(0.00001234), "1.234e-05");
  EXPECT_EQ(number_text(1e13), "1.000e+13");
}

TEST(NumberText, follows_its_format) {
  EXPECT_EQ(number_text(3.14159, {.style = NumberStyle::Fixed, .digits = 2}), "3.14");
  EXPECT_EQ(number_text(0.467, {.style = NumberStyle::Percent, .digits = 1}), "46.7 %");
  EXPECT_EQ(number_text(0.25, {.sign = NumberSign::Always}), "+0.2500");
  EXPECT_EQ(number_text(-0.25, {.sign = NumberSign::Always}), "-0.2500");
  EXPECT_EQ(number_text(-0.0001, {.style = NumberStyle::Fixed, .digits = 2}), "0.00")
      << "no minus before nothing";
}

TEST(NumberText, is_a_dash_where_there_is_no_number) {
  EXPECT_EQ(number_text(std::nan("")), "–");
  EXPECT_EQ(number_text(std::numeric_limits<double>::infinity()), "∞");
  EXPECT_EQ(number_text(-std::numeric_limits<double>::infinity()), "-∞");
}

TEST(NumberText, of_integers_has_commas) {
  EXPECT_EQ(integer_text(0), "0");
  EXPECT_EQ(integer_text(999), "999");
  EXPECT_EQ(integer_text(-1000), "-1,000");
  EXPECT_EQ(integer_text(1234567), "1,234,567");
  EXPECT_EQ(integer_text(std::numeric_limits<int64_t>::min()), "-9,223,372,036,854,775,808");
}

TEST(NumberText, beside_an_interval_has_the_digits_that_its_width_leaves_certain) {
  EXPECT_EQ(number_text(Estimate{2.49617, Interval{2.4841, 2.5083}}), "2.496 [2.484, 2.508]");
  EXPECT_EQ(number_text(Estimate{2.49617, Interval{1.9, 3.1}}), "2.50 [1.90, 3.10]");
  EXPECT_EQ(number_text(Estimate{1053.4, Interval{1010.0, 1097.0}}), "1,053 [1,010, 1,097]");
  EXPECT_EQ(number_text(Estimate{0.467, Interval{0.461, 0.473}}, {.style = NumberStyle::Percent}),
            "46.70 [46.10, 47.30] %");
  EXPECT_EQ(interval_text({-0.021, 0.043}), "-0.021 to 0.043");
}

TEST(NumberText, of_an_interval_without_width_or_end_is_as_of_the_value_alone) {
  EXPECT_EQ(number_text(Estimate{0.5, Interval{0.5, 0.5}}), "0.5000 [0.5000, 0.5000]");
  EXPECT_EQ(number_text(Estimate{0.1, Interval{0.1 - 1e-17, 0.1 + 1e-16}}), "0.1000 [0.1000, 0.1000]")
      << "rounding alone";
  EXPECT_EQ(number_text(Estimate{0.5, Interval{0.1, std::numeric_limits<double>::infinity()}}),
            "0.5000 [0.1000, –]");
  EXPECT_EQ(number_text(Estimate{std::nan(""), Interval{0, 1}}), "– [0.00, 1.00]");
}

}  // namespace
}  // namespace sluice
