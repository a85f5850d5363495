#include "sluice/plot/histogram.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "sluice/base/assert.h"
#include "sluice/plot/ridge_chart.h"
#include "tests/plot/recording_canvas.h"

namespace sluice {
namespace {

constexpr Box kHistogramPage{0, 0, 420, 300};

RecordingCanvas drawn(const Histogram& histogram) {
  RecordingCanvas canvas;
  draw_histogram(canvas, kHistogramPage, histogram);
  return canvas;
}

BinnedCounts bins_of(std::vector<double> counts) {
  BinnedCounts bins{.counts = std::move(counts)};
  for (size_t i = 0; i <= bins.counts.size(); ++i)
    bins.edges.push_back(static_cast<double>(i) / static_cast<double>(bins.counts.size()));
  return bins;
}

double area_below(const std::vector<Point>& line) {
  double area = 0;
  for (size_t i = 1; i < line.size(); ++i)
    area += (line[i].x - line[i - 1].x) * (line[i].y + line[i - 1].y) / 2;
  return area;
}

TEST(Density, of_all_bins_has_the_area_one) {
  const BinnedCounts bins{.edges = {0, 1, 3}, .counts = {1, 3}};
  EXPECT_EQ(densities(bins), (std::vector<double>{0.25, 0.375}));
}

TEST(Density, smoothed_keeps_its_area_even_at_the_edges) {
  for (const auto& counts : {std::vector<double>{100, 0, 0, 0, 0, 0, 0, 0, 0, 0},
                             {1, 2, 3, 4, 5, 5, 4, 3, 2, 1},
                             {50, 0, 0, 0, 0, 0, 0, 0, 0, 50},
                             {7}})
    EXPECT_NEAR(area_below(smoothed_density(bins_of(counts))), 1, 0.06) << counts[0];
}

TEST(Density, smoothed_shows_two_humps_as_two) {
  std::vector<double> counts(50, 1);
  counts[10] = counts[40] = 500;
  const std::vector<Point> line = smoothed_density(bins_of(counts));
  EXPECT_GT(line[42].y, 5 * line[100].y);
  EXPECT_GT(line[162].y, 5 * line[100].y);
}

TEST(Density, does_not_count_what_is_not_a_count) {
  EXPECT_EQ(densities(bins_of({1, std::nan(""), -5, INFINITY})), (std::vector<double>{4, 0, 0, 0}));
  EXPECT_TRUE(smoothed_density(bins_of({0, 0})).empty());
  EXPECT_TRUE(smoothed_density({}).empty());
}

TEST(Density, refuses_bins_that_are_none) {
  EXPECT_THROW(densities({.edges = {0, 1}, .counts = {1, 2}}), AssertionError);
  EXPECT_THROW(densities({.edges = {0, 0}, .counts = {1}}), AssertionError);
}

TEST(Histogram, draws_a_bar_for_each_bin_that_has_something) {
  EXPECT_EQ(drawn({.bins = bins_of({1, 0, 3})}).polygons.size(), 2U);
}

TEST(Histogram, names_its_marks_and_draws_those_that_lie_inside) {
  Histogram histogram{.bins = bins_of({1, 2, 3}), .line = DensityLine::None, .marks = {{0.5, "mean"}}};
  const size_t with_one = drawn(histogram).lines.size();
  EXPECT_TRUE(drawn(histogram).says("mean"));
  histogram.marks.push_back({7, "far"});
  EXPECT_EQ(drawn(histogram).lines.size(), with_one + 1) << "only the sample in the legend";
  histogram.marks.push_back({std::nan(""), "none"});
  EXPECT_EQ(drawn(histogram).escape(kHistogramPage), "");
}

TEST(Histogram, on_a_logarithmic_axis_stays_within_the_decades_of_its_bars) {
  Histogram histogram{.y = {.label = "density", .scale = AxisScale::Log},
                      .bins = bins_of({1e6, 0, 1, 0, 0, 0, 0, 0, 0, 1})};
  const RecordingCanvas canvas = drawn(histogram);
  EXPECT_EQ(canvas.collision(kHistogramPage), "");
  EXPECT_EQ(canvas.polygons.size(), 3U);
  EXPECT_TRUE(canvas.says("0.0001") || canvas.says("0.001") || canvas.says("0.01"));
}

TEST(Histogram, of_nothing_says_so) {
  for (const Histogram& histogram : {Histogram{}, Histogram{.bins = bins_of({0, 0})}})
    EXPECT_TRUE(drawn(histogram).says("no data"));
}

TEST(Histogram, takes_one_bin) {
  EXPECT_EQ(drawn({.bins = bins_of({5})}).collision(kHistogramPage), "");
}

RecordingCanvas drawn(const RidgeChart& chart) {
  RecordingCanvas canvas;
  draw_ridge_chart(canvas, kHistogramPage, chart);
  return canvas;
}

double highest_point(const RecordingCanvas::Line& polygon) {
  return std::ranges::min_element(polygon.points, {}, &Point::y)->y;
}

TEST(RidgeChart, stacks_densities_from_the_top) {
  RidgeChart chart{.y_label = "layer"};
  for (const char* name : {"0", "1", "2"}) chart.ridges.push_back({name, bins_of({1, 5, 1})});
  const RecordingCanvas canvas = drawn(chart);
  ASSERT_EQ(canvas.polygons.size(), 3U);
  EXPECT_LT(highest_point(canvas.polygons[0]), highest_point(canvas.polygons[1]));
  EXPECT_TRUE(canvas.says("0") && canvas.says("2") && canvas.says("layer"));
}

TEST(RidgeChart, gives_each_its_own_height_or_all_a_common_one) {
  RidgeChart chart;
  chart.ridges = {{"flat", bins_of({1, 1, 1, 1, 1, 1, 1, 1, 1, 1})},
                  {"sharp", bins_of({0, 0, 0, 0, 9, 0, 0, 0, 0, 0})}};
  const auto height = [](const RecordingCanvas::Line& polygon) {
    return polygon.points.back().y - highest_point(polygon);
  };
  const RecordingCanvas own = drawn(chart);
  EXPECT_NEAR(height(own.polygons[0]), height(own.polygons[1]), 1e-9);
  chart.height = RidgeHeight::Common;
  const RecordingCanvas common = drawn(chart);
  EXPECT_LT(height(common.polygons[0]), height(common.polygons[1]) / 2);
}

TEST(RidgeChart, takes_none_and_empty_ones) {
  EXPECT_TRUE(drawn(RidgeChart{}).says("no data"));
  RidgeChart chart;
  chart.ridges = {{"empty", bins_of({0, 0})}, {"full", bins_of({1, 2})}};
  EXPECT_EQ(drawn(chart).polygons.size(), 1U);
  chart.ridges.pop_back();
  EXPECT_TRUE(drawn(chart).says("no data"));
}

}  // namespace
}  // namespace sluice
