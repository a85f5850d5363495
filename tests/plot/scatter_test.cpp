#include "sluice/plot/scatter.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sluice/base/assert.h"
#include "tests/plot/recording_canvas.h"
#include "tests/plot/sample_charts.h"

namespace sluice {
namespace {

constexpr Box kScatterPage{0, 0, 460, 380};

RecordingCanvas drawn(const Scatter& scatter) {
  RecordingCanvas canvas;
  draw_scatter(canvas, kScatterPage, scatter);
  return canvas;
}

Scatter scatter_of(std::vector<double> x, std::vector<double> y) {
  Scatter scatter{.x = {.label = "gate"}, .y = {.label = "sink"}, .marginals = Marginals::None};
  scatter.groups.push_back({.x = std::move(x), .y = std::move(y)});
  return scatter;
}

TEST(Scatter, draws_a_point_for_each_pair) {
  const RecordingCanvas canvas = drawn(scatter_of({0, 1, 2}, {2, 1, 0}));
  ASSERT_EQ(canvas.discs.size(), 3U);
  EXPECT_LT(canvas.discs[0].centre.x, canvas.discs[1].centre.x);
  EXPECT_LT(canvas.discs[0].centre.y, canvas.discs[1].centre.y);
}

TEST(Scatter, leaves_out_what_is_not_finite_and_says_what_has_no_place) {
  Scatter scatter = scatter_of({1, std::nan(""), 3, -4, 10}, {1, 2, INFINITY, 4, 100});
  EXPECT_EQ(drawn(scatter).discs.size(), 3U);
  scatter.x.scale = AxisScale::Log;
  const RecordingCanvas canvas = drawn(scatter);
  EXPECT_EQ(canvas.discs.size(), 2U);
  EXPECT_TRUE(canvas.says("1 value is not positive and has no place on a logarithmic axis"));
}

TEST(Scatter, draws_intervals_inside_the_axes) {
  Scatter scatter = scatter_of({0, 1}, {0, 1});
  const size_t without = drawn(scatter).lines.size();
  scatter.groups[0].upwards = {{-3, 2}, {std::nan(""), std::nan("")}};
  scatter.groups[0].across = {{-1, 1}, {0.5, 9}};
  const RecordingCanvas canvas = drawn(scatter);
  const auto upright = [](const auto& line) {
    return line.points.size() == 2 && std::abs(line.points[0].x - line.points[1].x) < 1e-9 &&
           std::abs(line.stroke.width - 0.9) < 1e-9;
  };
  EXPECT_GT(canvas.lines.size(), without);
  EXPECT_EQ(std::ranges::count_if(canvas.lines, upright), 1) << "the other has none";
  for (const auto& line : canvas.lines)
    for (const Point& point : line.points) EXPECT_TRUE(kScatterPage.contains(point));
}

TEST(Scatter, leaves_out_names_that_would_lie_on_others) {
  Scatter scatter = scatter_of({0, 0.5, 0.5001, 1}, {0, 0.5, 0.5, 1});
  scatter.groups[0].labels = {"", "first", std::string(40, 'x'), "last"};
  const RecordingCanvas canvas = drawn(scatter);
  EXPECT_TRUE(canvas.says("first") && canvas.says("last"));
  scatter.groups[0].x.assign(200, 0.5);
  scatter.groups[0].y.assign(200, 0.5);
  scatter.groups[0].labels.assign(200, "the same");
  EXPECT_EQ(drawn(scatter).collision(kScatterPage), "");
}

TEST(Scatter, draws_the_fit_only_inside_the_axes) {
  Scatter scatter = scatter_of({0, 1}, {0, 1});
  const size_t without = drawn(scatter).lines.size();
  for (const FitLine& fit : {FitLine{0, 1}, {-1e9, 2e9}, {0.5, 0}}) {
    scatter.fit = fit;
    const RecordingCanvas canvas = drawn(scatter);
    EXPECT_EQ(canvas.lines.size(), without + 1) << fit.slope;
    EXPECT_EQ(canvas.escape(kScatterPage), "") << fit.slope;
  }
  for (const FitLine& fit : {FitLine{7, 0}, {1e9, 1}, {std::nan(""), 1}}) {
    scatter.fit = fit;
    EXPECT_EQ(drawn(scatter).lines.size(), without) << fit.intercept;
  }
}

TEST(Scatter, the_fit_goes_through_its_points_on_logarithmic_axes_too) {
  Scatter scatter = scatter_of({1, 10, 100}, {2, 20, 200});
  scatter.x.scale = scatter.y.scale = AxisScale::Log;
  scatter.fit = FitLine{.intercept = std::log10(2), .slope = 1};
  const RecordingCanvas canvas = drawn(scatter);
  const auto fits = canvas.lines_of({0, 0, 0});
  ASSERT_EQ(fits.size(), 1U);
  EXPECT_NEAR(fits[0].points[0].y, canvas.discs[0].centre.y, 1e-6);
  EXPECT_NEAR(fits[0].points[1].y, canvas.discs[2].centre.y, 1e-6);
}

TEST(Scatter, has_histograms_at_the_top_and_the_right) {
  Scatter scatter = scatter_of({0, 0, 0, 1}, {0, 0, 0, 1});
  scatter.marginals = Marginals::Both;
  EXPECT_EQ(drawn(scatter).polygons.size(), 4U);
  EXPECT_EQ(drawn(scatter).escape(kScatterPage), "");
}

TEST(Scatter, draws_points_on_one_dot_once) {
  std::vector<double> x, y;
  for (size_t i = 0; i < 100000; ++i) {
    x.push_back(std::round(20 * sample_value(i)));
    y.push_back(std::round(20 * sample_value(i + 100000)));
  }
  EXPECT_LE(drawn(scatter_of(x, y)).discs.size(), 441U);
}

TEST(Scatter, takes_no_point_one_point_and_equal_points) {
  EXPECT_TRUE(drawn(Scatter{}).says("no data"));
  EXPECT_TRUE(drawn(scatter_of({std::nan("")}, {1})).says("no data"));
  for (const Scatter& scatter : {scatter_of({3}, {4}), scatter_of({3, 3}, {4, 4})}) {
    EXPECT_EQ(drawn(scatter).discs.size(), 1U);
    EXPECT_EQ(drawn(scatter).collision(kScatterPage), "");
  }
}

TEST(Scatter, refuses_half_a_point) {
  EXPECT_THROW(drawn(scatter_of({1}, {})), AssertionError);
}

}  // namespace
}  // namespace sluice
