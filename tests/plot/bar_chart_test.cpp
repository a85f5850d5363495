#include "sluice/plot/bar_chart.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "sluice/base/assert.h"
#include "sluice/plot/fill_style.h"
#include "sluice/plot/panels.h"
#include "tests/plot/recording_canvas.h"

namespace sluice {
namespace {

constexpr Box kBarPage{0, 0, 420, 300};

RecordingCanvas drawn(const BarChart& chart) {
  RecordingCanvas canvas;
  draw_bar_chart(canvas, kBarPage, chart);
  return canvas;
}

BarChart bars_of(std::vector<double> values) {
  BarChart chart{.y = {.label = "share"}};
  chart.groups.push_back({.name = "first", .values = std::move(values)});
  return chart;
}

// The bars, without the sample in the legend.
std::vector<Box> bars_in(const RecordingCanvas& canvas) {
  std::vector<Box> bars;
  for (const auto& polygon : canvas.polygons)
    bars.push_back({polygon.points[0].x, polygon.points[0].y, polygon.points[1].x - polygon.points[0].x,
                    polygon.points[2].y - polygon.points[1].y});
  if (!bars.empty()) bars.erase(bars.begin());
  return bars;
}

TEST(BarChart, bars_stand_on_zero_and_are_as_high_as_their_values) {
  const std::vector<Box> bars = bars_in(drawn(bars_of({1, 2, -1})));
  ASSERT_EQ(bars.size(), 3U);
  EXPECT_NEAR(bars[1].height, 2 * bars[0].height, 1e-9);
  EXPECT_NEAR(bars[0].bottom(), bars[1].bottom(), 1e-9);
  EXPECT_NEAR(bars[2].top, bars[0].bottom(), 1e-9) << "a negative one hangs";
}

TEST(BarChart, leaves_a_gap_where_a_value_is_missing) {
  const std::vector<Box> bars = bars_in(drawn(bars_of({1, std::nan(""), INFINITY, 1})));
  ASSERT_EQ(bars.size(), 2U);
  EXPECT_GT(bars[1].left - bars[0].left, 2.5 * bars[0].width);
}

TEST(BarChart, draws_points_also_where_there_is_no_mean_of_them) {
  BarChart chart = bars_of({1, std::nan("")});
  chart.groups[0].points = {{}, {1, 2, INFINITY}};
  const RecordingCanvas canvas = drawn(chart);
  EXPECT_EQ(bars_in(canvas).size(), 1U);
  EXPECT_EQ(canvas.discs.size(), 2U);
}

TEST(BarChart, draws_intervals) {
  BarChart chart = bars_of({1, 2});
  const size_t without = drawn(chart).lines.size();
  chart.groups[0].low = {0.5, std::nan("")};
  chart.groups[0].high = {1.5, std::nan("")};
  EXPECT_EQ(drawn(chart).lines.size(), without + 3) << "a line and two caps around the first";
}

TEST(BarChart, draws_what_a_bar_is_the_mean_of_and_makes_room_for_it) {
  BarChart chart = bars_of({1, 2});
  const std::vector<Box> without = bars_in(drawn(chart));
  chart.groups[0].points = {{0.5, 1.5}, {0, 4, std::nan("")}};
  const RecordingCanvas canvas = drawn(chart);
  ASSERT_EQ(canvas.discs.size(), 4U) << "what is no number has no dot";
  const std::vector<Box> bars = bars_in(canvas);
  EXPECT_LT(bars[1].height, without[1].height) << "the axis reaches to 4";
  const auto above_ground = [&](size_t i) { return bars[0].bottom() - canvas.discs[i].centre.y; };
  EXPECT_NEAR(above_ground(0), bars[0].height / 2, 1e-9);
  EXPECT_NEAR(above_ground(3), 2 * bars[1].height, 1e-9);
  for (const auto& disc : canvas.discs) {
    const Box& bar = bars[&disc - canvas.discs.data() < 2 ? 0 : 1];
    EXPECT_GT(disc.centre.x, bar.left);
    EXPECT_LT(disc.centre.x, bar.left + bar.width / 2) << "beside the interval's line";
  }
}

TEST(BarChart, on_a_logarithmic_axis_says_how_many_values_have_no_place) {
  BarChart chart = bars_of({10, 0, -5, 1000});
  chart.y.scale = AxisScale::Log;
  const RecordingCanvas canvas = drawn(chart);
  EXPECT_EQ(bars_in(canvas).size(), 2U);
  EXPECT_TRUE(canvas.says("2 values are not positive and have no place on a logarithmic axis"));
  EXPECT_TRUE(canvas.says("100"));
  EXPECT_EQ(canvas.collision(kBarPage), "");
}

TEST(BarChart, on_a_logarithmic_axis_lets_an_interval_end_at_the_axis) {
  BarChart chart = bars_of({10, 100});
  chart.y.scale = AxisScale::Log;
  chart.groups[0].low = {-1, 50};
  chart.groups[0].high = {20, 200};
  EXPECT_EQ(drawn(chart).escape(kBarPage), "");
}

TEST(BarChart, of_dots_has_its_axis_where_the_values_are) {
  BarChart chart = bars_of({1000, 1001});
  chart.marks = BarMarks::Dots;
  const RecordingCanvas canvas = drawn(chart);
  EXPECT_TRUE(canvas.polygons.empty()) << "nothing stands on anything";
  ASSERT_EQ(canvas.discs.size(), 3U) << "one of them in the legend";
  EXPECT_GT(canvas.discs[1].centre.y - canvas.discs[2].centre.y, kBarPage.height / 2);
}

TEST(BarChart, shows_levels_whatever_the_values_are) {
  BarChart chart = bars_of({1, 2});
  const double without = bars_in(drawn(chart))[1].height;
  chart.y.levels = {{.value = 4, .dashes = {7, 3}}};
  const RecordingCanvas canvas = drawn(chart);
  EXPECT_NEAR(bars_in(canvas)[1].height, without / 2, 0.1 * without) << "the axis reaches to 4";
  const auto dashed = std::ranges::count_if(canvas.lines, [](const auto& line) {
    return line.stroke.dashes == std::vector<double>{7, 3};
  });
  EXPECT_EQ(dashed, 1);
}

TEST(BarChart, of_nothing_says_so) {
  for (const BarChart& chart : {BarChart{}, bars_of({}), bars_of({std::nan(""), std::nan("")})})
    EXPECT_TRUE(drawn(chart).says("no data"));
  BarChart negative = bars_of({-1, 0});
  negative.y.scale = AxisScale::Log;
  EXPECT_TRUE(drawn(negative).says("no data"));
}

TEST(BarChart, takes_zeros_only_and_values_of_any_size) {
  for (const std::vector<double>& values :
       {std::vector<double>{0, 0}, {3, 3, 3}, {1e-300, 2e-300}, {-1e300, 1e300}, {-7}}) {
    const RecordingCanvas canvas = drawn(bars_of(values));
    EXPECT_EQ(canvas.escape(kBarPage), "") << values[0];
    EXPECT_EQ(canvas.collision(kBarPage), "") << values[0];
  }
}

TEST(BarChart, tells_more_groups_apart_than_there_are_colours) {
  std::set<std::pair<int, int>> looks;
  for (size_t i = 0; i < 35; ++i) {
    const FillStyle style = fill_number(i);
    looks.emplace(style.color.red * 65536 + style.color.green * 256 + style.color.blue,
                  static_cast<int>(style.hatch));
  }
  EXPECT_EQ(looks.size(), 35U);
  BarChart chart;
  for (int i = 0; i < 40; ++i)
    chart.groups.push_back({.name = "group " + std::to_string(i), .values = {1, 2}});
  EXPECT_EQ(drawn(chart).collision(kBarPage), "");
}

TEST(BarChart, in_black_and_white_neighbours_differ_by_hatching) {
  for (size_t i = 0; i < 10; ++i) EXPECT_NE(fill_number(i).hatch, fill_number(i + 1).hatch);
}

TEST(BarChart, escapes_names) {
  BarChart chart = bars_of({1, 2});
  chart.title = "<script>alert(1)</script>";
  chart.x.names = {"a & b", "<i>"};
  const std::string svg = svg_of(figure_of(panel_of(chart), {"<b>caption</b>"}));
  for (const char* raw : {"<script", "<i>", "<b>", "a & b"})
    EXPECT_EQ(svg.find(raw), std::string::npos) << raw;
}

TEST(BarChart, refuses_groups_of_different_lengths) {
  BarChart chart = bars_of({1, 2});
  chart.groups.push_back({.name = "short", .values = {1}});
  EXPECT_THROW(drawn(chart), AssertionError);
  chart = bars_of({1, 2});
  chart.groups[0].low = {0, 0};
  EXPECT_THROW(drawn(chart), AssertionError);
}

}  // namespace
}  // namespace sluice
