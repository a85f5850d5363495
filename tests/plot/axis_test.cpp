#include "sluice/plot/axis.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sluice {
namespace {

std::vector<std::string> labels(const std::vector<Tick>& ticks) {
  std::vector<std::string> result;
  for (const Tick& tick : ticks) result.push_back(tick.label);
  return result;
}

std::vector<std::string> labels(Extent extent, int most, AxisScale scale = AxisScale::Linear) {
  return labels(Axis(extent, scale).ticks(most));
}

using Labels = std::vector<std::string>;

TEST(Axis, ticks_are_round_and_no_more_than_wanted) {
  EXPECT_EQ(labels({0, 1}, 6), (Labels{"0", "0.2", "0.4", "0.6", "0.8", "1.0"}));
  EXPECT_EQ(labels({0, 1}, 5), (Labels{"0", "0.5", "1.0"}));
  EXPECT_EQ(labels({1.37, 6.2}, 6), (Labels{"2", "3", "4", "5", "6"}));
  EXPECT_EQ(labels({-3, 3}, 3), (Labels{"-2", "0", "2"}));
  EXPECT_EQ(labels({0, 0.3}, 4), (Labels{"0", "0.1", "0.2", "0.3"})) << "0.3 / 0.1 is less than 3";
}

TEST(Axis, of_things_that_are_counted_has_whole_ticks) {
  EXPECT_EQ(labels(Axis({0, 1}, AxisScale::Linear, TickValues::Whole).ticks(8)), (Labels{"0", "1"}));
  EXPECT_EQ(labels(Axis({0, 27}, AxisScale::Linear, TickValues::Whole).ticks(8)),
            (Labels{"0", "5", "10", "15", "20", "25"}));
  EXPECT_EQ(labels(Axis({0, 0}, AxisScale::Linear, TickValues::Whole).ticks(8)), (Labels{"0"}));
}

TEST(Axis, large_numbers_are_written_short_and_neighbours_stay_apart) {
  EXPECT_EQ(labels({0, 9000}, 4), (Labels{"0", "5000"}));
  EXPECT_EQ(labels({0, 600000}, 4), (Labels{"0", "200k", "400k", "600k"}));
  EXPECT_EQ(labels({1.0e6, 1.2e6}, 3), (Labels{"1.0M", "1.1M", "1.2M"}));
  EXPECT_EQ(labels({0, 3e18}, 4), (Labels{"0", "1e+18", "2e+18", "3e+18"}));
}

TEST(Axis, small_numbers_have_the_digits_that_tell_them_apart) {
  EXPECT_EQ(labels({0.001, 0.003}, 3), (Labels{"0.001", "0.002", "0.003"}));
  EXPECT_EQ(labels({0, 3e-9}, 4), (Labels{"0", "1e-09", "2e-09", "3e-09"}));
  EXPECT_EQ(labels({5.001, 5.003}, 3), (Labels{"5.001", "5.002", "5.003"}));
}

TEST(Axis, one_value_or_none_gets_room_around_it) {
  const Axis one({2, 2}, AxisScale::Linear);
  EXPECT_EQ(one.position(2), 0.5);
  EXPECT_EQ(Axis({0, 0}, AxisScale::Linear).position(0), 0.5);
  EXPECT_EQ(Axis({100, 100}, AxisScale::Log).position(100), 0.5);
  EXPECT_GE(Axis(Extent(), AxisScale::Linear).ticks(5).size(), 2U);
  EXPECT_GE(Axis(Extent(), AxisScale::Log).ticks(5).size(), 2U);
}

TEST(Axis, ticks_of_any_extent_end_and_lie_on_the_axis) {
  for (const double low : {-1e300, -5.0, -1e-9, 0.0, 5e-324, 1e-300, 1e-12, 1.0, 1e15, 1e300}) {
    for (const double more : {0.0, 5e-324, 1e-300, 1e-15, 1e-5, 1.0, 1e9, 1e300}) {
      const Axis axis({low, low + more}, AxisScale::Linear);
      const std::vector<Tick> ticks = axis.ticks(6);
      EXPECT_LE(ticks.size(), 6U) << low << " + " << more;
      for (const Tick& tick : ticks) {
        EXPECT_GE(axis.position(tick.value), -1e-6) << low << " + " << more;
        EXPECT_LE(axis.position(tick.value), 1 + 1e-6) << low << " + " << more;
      }
    }
  }
}

TEST(Axis, logarithmic_ticks_are_powers_of_ten_or_between_them) {
  EXPECT_EQ(labels({1, 1000}, 5, AxisScale::Log), (Labels{"1", "10", "100", "1000"}));
  EXPECT_EQ(labels({0.01, 2}, 10, AxisScale::Log),
            (Labels{"0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1", "2"}));
  EXPECT_EQ(labels({3, 4}, 3, AxisScale::Log), (Labels{"3.0", "3.5", "4.0"}));
  EXPECT_LE(labels({1e-300, 1e300}, 6, AxisScale::Log).size(), 6U);
  EXPECT_EQ(Axis({1, 100}, AxisScale::Log).position(10), 0.5);
}

TEST(Axis, a_logarithmic_one_has_no_place_for_zero) {
  const Axis axis({1, 10}, AxisScale::Log);
  EXPECT_FALSE(axis.has_place_for(0));
  EXPECT_FALSE(axis.has_place_for(-1));
  EXPECT_FALSE(axis.has_place_for(std::nan("")));
  EXPECT_TRUE(axis.has_place_for(0.5));
}

TEST(Axis, takes_fewer_ticks_until_they_fit) {
  const Axis axis({0, 10}, AxisScale::Linear);
  EXPECT_EQ(axis.ticks(11, [](const std::vector<Tick>& ticks) { return ticks.size() < 5; }).size(), 3U);
}

TEST(Extent, does_not_count_what_is_not_finite) {
  Extent extent;
  extent.add(std::nan(""));
  extent.add(INFINITY);
  EXPECT_TRUE(extent.is_empty());
  extent.add(3);
  EXPECT_EQ(extent.low, 3);
  EXPECT_EQ(extent.high, 3);
}

}  // namespace
}  // namespace sluice
