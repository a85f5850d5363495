#include "sluice/plot/box_chart.h"

#include <gtest/gtest.h>

#include "sluice/base/assert.h"
#include "tests/plot/recording_canvas.h"

namespace sluice {
namespace {

constexpr Box kBoxPage{0, 0, 420, 300};
constexpr BoxSummary kSummary{.low = 1, .lower = 2, .median = 3, .upper = 5, .high = 9, .mean = 3.5};

RecordingCanvas drawn(const BoxChart& chart) {
  RecordingCanvas canvas;
  draw_box_chart(canvas, kBoxPage, chart);
  return canvas;
}

BoxChart boxes_of(std::vector<BoxSummary> boxes) {
  BoxChart chart{.x = {.label = "layer"}, .y = {.label = "gate"}};
  chart.groups.push_back({.boxes = std::move(boxes)});
  return chart;
}

TEST(BoxChart, draws_the_box_from_quartile_to_quartile_and_the_mean_in_between) {
  const RecordingCanvas canvas = drawn(boxes_of({kSummary}));
  ASSERT_EQ(canvas.polygons.size(), 3U) << "the box, the mean and its edge";
  const std::vector<Point>& box = canvas.polygons[0].points;
  const double upper = box[0].y, lower = box[2].y, unit = (lower - upper) / 3;
  const auto medians = canvas.lines_of({0, 0, 0});
  ASSERT_EQ(medians.size(), 1U);
  EXPECT_NEAR(medians[0].points[0].y, lower - unit, 1e-9);
  const Point mean = canvas.polygons[2].points[0];
  EXPECT_GT(mean.y, upper);
  EXPECT_LT(mean.y, lower - unit);
}

TEST(BoxChart, leaves_out_what_is_incomplete_or_has_no_place) {
  BoxSummary incomplete = kSummary, without_mean = kSummary, negative = kSummary;
  incomplete.median = BoxSummary::kMissing;
  without_mean.mean = BoxSummary::kMissing;
  negative.low = -1;
  EXPECT_EQ(drawn(boxes_of({incomplete, kSummary})).polygons.size(), 3U);
  EXPECT_EQ(drawn(boxes_of({without_mean})).polygons.size(), 1U);
  BoxChart chart = boxes_of({negative, kSummary});
  chart.y.scale = AxisScale::Log;
  const RecordingCanvas canvas = drawn(chart);
  EXPECT_EQ(canvas.polygons.size(), 3U);
  EXPECT_TRUE(canvas.says("1 value is not positive and has no place on a logarithmic axis"));
}

TEST(BoxChart, of_nothing_says_so) {
  for (const BoxChart& chart : {BoxChart{}, boxes_of({}), boxes_of({BoxSummary{}})})
    EXPECT_TRUE(drawn(chart).says("no data"));
}

TEST(BoxChart, takes_boxes_without_height) {
  const RecordingCanvas canvas = drawn(boxes_of({{2, 2, 2, 2, 2, 2}, {2, 2, 2, 2, 2, 2}}));
  EXPECT_EQ(canvas.escape(kBoxPage), "");
  EXPECT_EQ(canvas.collision(kBoxPage), "");
}

TEST(BoxChart, puts_groups_beside_each_other_and_names_them) {
  BoxChart chart = boxes_of({kSummary, kSummary});
  chart.groups[0].name = "headwise";
  chart.groups.push_back({.name = "elementwise", .boxes = {kSummary, kSummary}});
  const RecordingCanvas canvas = drawn(chart);
  EXPECT_TRUE(canvas.says("headwise") && canvas.says("elementwise"));
  chart.groups[1].boxes.pop_back();
  EXPECT_THROW(drawn(chart), AssertionError);
}

}  // namespace
}  // namespace sluice
