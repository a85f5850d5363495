#include "sluice/plot/line_chart.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sluice/base/assert.h"
#include "tests/plot/recording_canvas.h"

namespace sluice {
namespace {

constexpr Box kPage{0, 0, 400, 300};
constexpr Color kRed{200, 0, 0};
const double kGap = std::nan("");

RecordingCanvas drawn(const LineChart& chart, const Box& page = kPage) {
  RecordingCanvas canvas;
  draw_line_chart(canvas, page, chart);
  return canvas;
}

LineChart chart_of(std::vector<double> x, std::vector<double> y) {
  LineChart chart{.title = "Title", .x = {.label = "step"}, .y = {.label = "loss"}};
  chart.series.push_back({.name = "red", .x = std::move(x), .y = std::move(y), .style = {.color = kRed}});
  return chart;
}

// The line of the data: the other one of that colour is the legend's sample.
std::vector<RecordingCanvas::Line> data_lines(const RecordingCanvas& canvas) {
  auto lines = canvas.lines_of(kRed);
  if (!lines.empty()) lines.erase(lines.begin());
  return lines;
}

TEST(LineChart, says_title_names_and_labels) {
  const RecordingCanvas canvas = drawn(chart_of({0, 1}, {0, 1}));
  for (const char* text : {"Title", "red", "step", "loss", "0.2"}) EXPECT_TRUE(canvas.says(text)) << text;
}

TEST(LineChart, has_two_round_values_at_least_beside_a_short_axis) {
  const RecordingCanvas canvas = drawn(chart_of({0, 1}, {0.0161, 0.0239}), {0, 0, 340, 200});
  EXPECT_TRUE(canvas.says("0.018") && canvas.says("0.020")) << "0.020 alone says nothing of the scale";
}

TEST(LineChart, draws_higher_values_higher_and_later_ones_to_the_right) {
  const auto lines = data_lines(drawn(chart_of({0, 1, 2}, {1, 3, 2})));
  ASSERT_EQ(lines.size(), 1U);
  const std::vector<Point>& points = lines[0].points;
  ASSERT_EQ(points.size(), 3U);
  EXPECT_LT(points[0].x, points[1].x);
  EXPECT_LT(points[1].y, points[2].y);
  EXPECT_NEAR(points[0].y - points[2].y, points[2].y - points[1].y, 1e-9);
}

TEST(LineChart, lets_a_band_end_where_a_logarithmic_axis_does) {
  LineChart chart = chart_of({0, 1}, {10, 100});
  chart.y.scale = AxisScale::Log;
  chart.series[0].low = {-5, 50};
  chart.series[0].high = {20, 200};
  const RecordingCanvas canvas = drawn(chart);
  ASSERT_EQ(canvas.polygons.size(), 1U) << "a band, though a bound has no place";
  double lowest = 0;
  for (const Point& point : canvas.polygons[0].points) lowest = std::max(lowest, point.y);
  EXPECT_GT(lowest, data_lines(canvas)[0].points[0].y) << "as far down as the axis";
}

TEST(LineChart, shows_levels_under_its_lines_whatever_the_values_are) {
  LineChart chart = chart_of({0, 1}, {1, 2});
  chart.y.levels = {{.value = 4, .dashes = {7, 3}}, {.value = 1, .dashes = {1.5, 3}}};
  const RecordingCanvas canvas = drawn(chart);
  const auto dashes = [](const auto& line) { return line.stroke.dashes; };
  const auto first = std::ranges::find(canvas.lines, std::vector<double>{7, 3}, dashes);
  const auto second = std::ranges::find(canvas.lines, std::vector<double>{1.5, 3}, dashes);
  ASSERT_NE(first, canvas.lines.end());
  ASSERT_NE(second, canvas.lines.end());
  EXPECT_EQ(first->points[0].y, first->points[1].y);
  EXPECT_NEAR(second->points[0].y, data_lines(canvas)[0].points[0].y, 1e-9) << "where values of 1 are";
  EXPECT_LT(second - canvas.lines.begin(), canvas.lines.size() - 1U) << "the series comes after";
}

TEST(LineChart, cuts_off_what_lies_above_its_limit_and_marks_where) {
  LineChart chart = chart_of({0, 1, 2, 3, 4}, {3, 2, 7e30, 2, 7e30});
  chart.series[0].style.marker = Marker::Disc;
  chart.y.at_most = 4;
  const RecordingCanvas canvas = drawn(chart);
  EXPECT_TRUE(canvas.says("2.5")) << "the axis is that of the values below";
  ASSERT_EQ(canvas.polygons.size(), 1U) << "one mark";
  const auto lines = data_lines(canvas);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_DOUBLE_EQ(canvas.polygons[0].points[0].x, lines[0].points[2].x);
  EXPECT_GT(lines[0].points[2].y, -1000) << "no number that a drawing library cannot hold";
  EXPECT_EQ(canvas.discs.size(), 4U) << "three of the line, one in the legend";
  chart.y.at_most = 8e30;
  EXPECT_TRUE(drawn(chart).polygons.empty());
}

TEST(LineChart, of_values_that_are_all_above_its_limit_is_still_a_chart) {
  LineChart chart = chart_of({0, 1}, {30, 40});
  chart.y.at_most = 4;
  EXPECT_EQ(drawn(chart).polygons.size(), 1U);
}

TEST(LineChart, leaves_a_gap_where_a_value_is_missing) {
  const auto lines = data_lines(drawn(chart_of({0, 1, 2, 3, 4}, {1, 2, kGap, 2, 1})));
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].points.size(), 2U);
}

TEST(LineChart, shows_a_point_that_has_no_neighbours) {
  const RecordingCanvas canvas = drawn(chart_of({0, 1, 2, 3, 4}, {1, 2, kGap, 2, kGap}));
  ASSERT_EQ(canvas.discs.size(), 1U);
  EXPECT_EQ(canvas.discs[0].fill, kRed);
  EXPECT_EQ(drawn(chart_of({7}, {7})).discs.size(), 1U);
}

TEST(LineChart, says_that_there_is_nothing_to_draw) {
  for (const LineChart& chart : {LineChart{}, chart_of({}, {}), chart_of({1, 2}, {kGap, INFINITY})})
    EXPECT_TRUE(drawn(chart).says("no data"));
  EXPECT_FALSE(drawn(chart_of({1}, {1})).says("no data"));
}

TEST(LineChart, draws_thousands_of_points_as_few_and_keeps_the_peak) {
  std::vector<double> x, y;
  for (int i = 0; i < 200000; ++i) {
    x.push_back(i);
    y.push_back(i == 123456 ? 50 : i % 7);
  }
  const auto lines = data_lines(drawn(chart_of(x, y)));
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_LT(lines[0].points.size(), 4000U);
  const auto peak = std::ranges::min_element(lines[0].points, {}, &Point::y);
  EXPECT_LT(peak->y, 60);
}

TEST(LineChart, draws_a_band_only_where_both_bounds_are) {
  LineChart chart = chart_of({0, 1, 2, 3, 4}, {1, 1, 1, 1, 1});
  chart.series[0].low = {0, 0, kGap, 0, 0};
  chart.series[0].high = {2, 2, 2, 2, 2};
  const RecordingCanvas canvas = drawn(chart);
  ASSERT_EQ(canvas.polygons.size(), 2U);
  EXPECT_EQ(canvas.polygons[0].points.size(), 4U);
  EXPECT_LT(canvas.polygons[0].stroke.color.opacity, 0.5);
}

TEST(LineChart, draws_the_interval_of_a_point_alone_as_a_line) {
  LineChart chart = chart_of({3}, {1});
  chart.series[0].low = {0};
  chart.series[0].high = {2};
  const auto lines = data_lines(drawn(chart));
  ASSERT_EQ(lines.size(), 3U) << "with its two ends";
  EXPECT_GT(lines[0].points[1].y, lines[0].points[0].y + 50);
}

TEST(LineChart, on_a_logarithmic_axis_has_gaps_where_values_are_not_positive) {
  LineChart chart = chart_of({0, 1, 2, 3, 4}, {1, 10, 0, 100, 1000});
  chart.y.scale = AxisScale::Log;
  const auto lines = data_lines(drawn(chart));
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_NEAR(lines[0].points[0].y - lines[0].points[1].y, lines[1].points[0].y - lines[1].points[1].y, 1e-9);
}

TEST(LineChart, texts_do_not_overlap_whatever_the_numbers_and_the_size) {
  for (const double width : {190.0, 400.0, 900.0}) {
    for (const double scale : {1e-12, 1e-3, 1.0, 777.0, 123456.0, 1e12, 1e200}) {
      for (const double low : {0.0, 1.0, 100.0}) {
        LineChart chart = chart_of({low * scale, (low + 1) * scale}, {low * scale, (low + 1) * scale});
        chart.series.push_back(chart.series[0]);
        chart.series[1].name = "a name that is far too long for the legend of any chart, and then some more";
        const Box page{0, 0, width, 220};
        EXPECT_EQ(drawn(chart, page).collision(page), "") << width << " " << scale << " " << low;
      }
    }
  }
}

TEST(LineChart, takes_values_at_the_ends_of_what_numbers_can_hold) {
  const RecordingCanvas canvas = drawn(chart_of({0, 1, 2}, {-1e300, 1e300, 5e-324}));
  for (const Point& point : canvas.lines.back().points)
    EXPECT_TRUE(std::isfinite(point.x) && std::isfinite(point.y));
}

TEST(LineChart, refuses_a_series_without_all_its_coordinates) {
  EXPECT_THROW(drawn(chart_of({0, 1}, {0})), AssertionError);
}

TEST(Styles, differ_in_colour_dashes_and_markers) {
  for (size_t i = 1; i < 4; ++i) {
    EXPECT_NE(style_number(i).color, style_number(0).color);
    EXPECT_NE(style_number(i).dashes, style_number(0).dashes);
    EXPECT_NE(style_number(i).marker, style_number(0).marker);
  }
}

}  // namespace
}  // namespace sluice
