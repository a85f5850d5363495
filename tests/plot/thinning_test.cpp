#include "sluice/plot/thinning.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace sluice {
namespace {

std::vector<Point> noise(size_t count, double width) {
  std::vector<Point> points;
  uint32_t state = 1;
  for (size_t i = 0; i < count; ++i) {
    state = state * 1664525 + 1013904223;
    points.push_back({width * static_cast<double>(i) / static_cast<double>(count), state / 4294967296.0});
  }
  return points;
}

TEST(Thinning, leaves_few_points_as_they_are) {
  const std::vector<Point> points = {{0, 1}, {2, 5}, {4, 3}};
  ASSERT_EQ(thinned(points, 1).size(), 3U);
  EXPECT_EQ(thinned(points, 1)[1].y, 5);
  EXPECT_TRUE(thinned({}, 1).empty());
}

TEST(Thinning, leaves_at_most_four_points_in_a_column) {
  EXPECT_LE(thinned(noise(100000, 500), 1).size(), 2000U);
  EXPECT_GE(thinned(noise(100000, 500), 1).size(), 1000U);
}

TEST(Thinning, loses_neither_extremes_nor_ends_nor_order) {
  std::vector<Point> points = noise(100000, 500);
  points[77777].y = 9;
  points[55555].y = -9;
  const std::vector<Point> left = thinned(points, 1);
  const auto by_height = [](const Point& a, const Point& b) { return a.y < b.y; };
  EXPECT_EQ(std::ranges::max_element(left, by_height)->x, points[77777].x);
  EXPECT_EQ(std::ranges::min_element(left, by_height)->x, points[55555].x);
  EXPECT_EQ(left.front().y, points.front().y);
  EXPECT_EQ(left.back().y, points.back().y);
  EXPECT_TRUE(std::ranges::is_sorted(left, {}, &Point::x));
}

}  // namespace
}  // namespace sluice
