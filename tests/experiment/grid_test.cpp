#include "sluice/experiment/grid.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/base/expect_error.h"

namespace sluice {
namespace {

TEST(Grid, has_every_combination_and_the_last_axis_varies_fastest) {
  const auto points =
      grid_points({parse_grid_axis("model=a,b", "--vary"), parse_grid_axis("schedule.peak=1,2", "--vary")});
  std::vector<std::string> names;
  for (const GridPoint& point : points) names.push_back(point.name());
  EXPECT_EQ(names, (std::vector<std::string>{"a,peak=1", "a,peak=2", "b,peak=1", "b,peak=2"}));
  EXPECT_EQ(points[3].changes, (std::vector<std::string>{"model=b", "schedule.peak=2"}));
}

TEST(Grid, without_axes_is_one_point_that_changes_nothing) {
  const auto points = grid_points({});
  ASSERT_EQ(points.size(), 1U);
  EXPECT_TRUE(points[0].changes.empty());
  EXPECT_EQ(points[0].name(), "all");
}

TEST(Grid, names_are_names_of_directories) {
  EXPECT_EQ(GridPoint{{"model=some/path.json"}}.name(), "some_path.json");
}

TEST(Grid, refuses_axes_without_key_with_empty_or_repeated_values_and_keys) {
  const auto refused = [](const char* what, const std::string& text) {
    EXPECT_ERROR(parse_grid_axis(text, "--vary"), ErrorKind::Usage,
                 fmt::format("--vary: {}: expected key=value,value, got \"{}\"", what, text));
  };
  for (const char* text : {"", "x", "=1"}) refused("no key", text);
  for (const char* text : {"x=", "x=1,", "x=1,,2"}) refused("an empty value", text);
  refused("a value twice", "x=1,2,1");
  const GridAxis axis = parse_grid_axis("x=1", "--vary");
  EXPECT_ERROR(grid_points({axis, axis}), ErrorKind::Usage, "x: varied twice (list its values once)");
}

}  // namespace
}  // namespace sluice
