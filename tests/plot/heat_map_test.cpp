#include "sluice/plot/heat_map.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sluice/base/assert.h"
#include "sluice/plot/panels.h"
#include "tests/plot/recording_canvas.h"
#include "tests/plot/sample_charts.h"

namespace sluice {
namespace {

RecordingCanvas drawn(const HeatMap& map, const Box& box = {0, 0, 500, 400}) {
  RecordingCanvas canvas;
  draw_heat_map(canvas, box, map);
  return canvas;
}

HeatMap map_of(size_t rows, size_t columns, std::vector<double> values) {
  return {.rows = rows, .columns = columns, .values = std::move(values), .color = {.label = "mean gate"}};
}

HeatMap map_of_size(size_t rows, size_t columns) {
  std::vector<double> values;
  for (size_t i = 0; i < rows * columns; ++i) values.push_back(sample_value(i));
  return map_of(rows, columns, values);
}

TEST(HeatMap, colours_cells_by_value_from_the_top_left) {
  const RecordingCanvas canvas = drawn(map_of(2, 2, {0, 1, 0.5, 0}));
  ASSERT_EQ(canvas.polygons.size(), 4U);
  EXPECT_EQ(canvas.polygons[0].stroke.color, color_at(ColorMap::Sequential, 0));
  EXPECT_EQ(canvas.polygons[1].stroke.color, color_at(ColorMap::Sequential, 1));
  EXPECT_LT(canvas.polygons[0].points[0].x, canvas.polygons[1].points[0].x);
  EXPECT_LT(canvas.polygons[0].points[0].y, canvas.polygons[2].points[0].y);
}

TEST(HeatMap, writes_numbers_where_they_fit_in_every_cell) {
  EXPECT_TRUE(drawn(map_of(1, 2, {0.37, 0.5})).says("0.37"));
  HeatMap with_a_long_one = map_of(1, 8, std::vector<double>(8, 0.37));
  with_a_long_one.values[3] = 1e9;
  EXPECT_FALSE(drawn(with_a_long_one).says("0.37"));
  HeatMap without = map_of(1, 2, {0.37, 0.5});
  without.numbers = CellNumbers::None;
  EXPECT_FALSE(drawn(without).says("0.37"));
  EXPECT_TRUE(drawn(map_of(1, 2, {-0.001, 0.5})).says("0.00")) << "no minus before zeros";
}

TEST(HeatMap, hatches_what_is_missing_and_colours_the_rest) {
  const RecordingCanvas whole = drawn(map_of(1, 3, {0, 0.5, 1}));
  const RecordingCanvas canvas = drawn(map_of(1, 3, {0, std::nan(""), INFINITY}));
  EXPECT_NE(canvas.polygons[0].stroke.color, canvas.polygons[1].stroke.color);
  EXPECT_EQ(canvas.polygons[1].stroke.color, canvas.polygons[2].stroke.color);
  EXPECT_GT(canvas.lines.size(), whole.lines.size() + 10) << "hatching";
}

TEST(HeatMap, frames_the_cells_that_it_is_told_to) {
  HeatMap map = map_of(1, 3, {0, 0.5, 1});
  const size_t without = drawn(map).lines.size();
  map.framed = {true, false, true};
  const RecordingCanvas canvas = drawn(map);
  EXPECT_EQ(canvas.lines.size(), without + 2);
  map.framed = {true};
  EXPECT_THROW(drawn(map), AssertionError);
}

TEST(HeatMap, of_nothing_says_so) {
  EXPECT_TRUE(drawn(HeatMap{}).says("no data"));
  EXPECT_TRUE(drawn(HeatMap{.rows = 0, .columns = 3}).says("no data"));
}

TEST(HeatMap, takes_one_value_equal_ones_and_missing_ones_only) {
  for (const HeatMap& map : {map_of(1, 1, {0.3}), map_of(2, 2, {7, 7, 7, 7}), map_of(1, 2, {0, 0}),
                             map_of(1, 2, {std::nan(""), std::nan("")}), map_of(1, 2, {-INFINITY, 1e300})}) {
    EXPECT_EQ(drawn(map).collision({0, 0, 500, 400}), "");
  }
}

TEST(HeatMap, on_a_logarithmic_scale_shows_what_is_not_positive_as_the_lowest_and_says_so_by_an_arrow) {
  HeatMap map = map_of(1, 3, {0.001, 0, 1});
  map.color.scale = AxisScale::Log;
  const RecordingCanvas canvas = drawn(map);
  EXPECT_EQ(canvas.polygons[1].stroke.color, color_at(ColorMap::Sequential, 0));
  EXPECT_EQ(canvas.polygons.size(), 4U) << "three cells and the arrow";
  map.values[1] = 0.1;
  EXPECT_EQ(drawn(map).polygons.size(), 3U);
}

TEST(HeatMap, on_a_logarithmic_scale_ends_a_few_decades_below_the_highest) {
  HeatMap map = map_of(1, 2, {1e-40, 1});
  map.color.scale = AxisScale::Log;
  const ColorAxis colors(map.color, map.values);
  EXPECT_NEAR(colors.extent().low, 1e-6, 1e-12);
  EXPECT_TRUE(colors.cuts_low());
}

TEST(HeatMap, of_two_directions_has_its_centre_in_the_middle_and_marks_what_lies_below) {
  HeatMap map = map_of(1, 2, {-0.1, 0.4});
  map.color.map = ColorMap::Diverging;
  const ColorAxis colors(map.color, map.values);
  EXPECT_EQ(colors.color(0), color_at(ColorMap::Diverging, 0.5));
  EXPECT_EQ(colors.color(0.4), color_at(ColorMap::Diverging, 1));
  map.numbers = CellNumbers::None;
  HeatMap above = map;
  above.values = {0.1, 0.4};
  EXPECT_EQ(drawn(map).lines.size(), drawn(above).lines.size() + 1);
}

TEST(HeatMap, of_many_cells_is_one_small_picture) {
  const Panel panel = panel_of(map_of_size(512, 512));
  RecordingCanvas canvas;
  panel.draw(canvas, {0, 0, panel.width, panel.height});
  EXPECT_TRUE(canvas.polygons.empty());
  ASSERT_EQ(canvas.images.size(), 2U) << "the cells and the bar";
  EXPECT_EQ(canvas.images[0].image.width, 512U);
  EXPECT_LT(svg_of(figure_of(panel)).size(), 450'000U) << "of noise, which nothing makes smaller";
}

TEST(HeatMap, in_a_picture_lets_the_hatching_show_where_a_value_is_missing) {
  HeatMap map = map_of_size(64, 64);
  map.values[1] = std::nan("");
  const IndexedImage image = drawn(map).images.at(0).image;
  EXPECT_EQ(image.palette[image.pixels[1]].opacity, 0);
  EXPECT_EQ(image.palette[image.pixels[0]].opacity, 1);
}

TEST(HeatMap, has_square_cells_if_asked_to) {
  HeatMap map = map_of(2, 2, {0, 1, 0, 1});
  map.shape = CellShape::Square;
  const std::vector<Point> cell = drawn(map, {0, 0, 600, 300}).polygons[0].points;
  EXPECT_NEAR(cell[1].x - cell[0].x, cell[2].y - cell[1].y, 1e-9);
}

TEST(HeatMap, writes_fewer_numbers_of_layers_the_less_room_there_is) {
  const RecordingCanvas few = drawn(map_of_size(6, 8)), many = drawn(map_of_size(64, 64));
  EXPECT_TRUE(few.says("5") && few.says("7"));
  EXPECT_FALSE(many.says("1"));
  EXPECT_TRUE(many.says("10") && many.says("60"));
}

TEST(HeatMap, turns_words_and_cuts_long_ones) {
  HeatMap map = map_of(1, 3, {0, 1, 2});
  map.x.names = {"a", "<script> and spaces", std::string(300, 'x')};
  const RecordingCanvas canvas = drawn(map, {0, 0, 300, 400});
  ASSERT_TRUE(canvas.says("<script> and spaces"));
  EXPECT_EQ(canvas.collision({0, 0, 300, 400}), "");
  const std::string svg = svg_of(figure_of(panel_of(map)));
  EXPECT_NE(svg.find("&lt;script&gt; and spaces"), std::string::npos);
  EXPECT_EQ(svg.find("<script"), std::string::npos);
}

TEST(HeatMap, refuses_a_wrong_number_of_values_or_names) {
  EXPECT_THROW(drawn(map_of(2, 2, {1})), AssertionError);
  HeatMap map = map_of(1, 2, {1, 2});
  map.x.names = {"one"};
  EXPECT_THROW(drawn(map), AssertionError);
}

}  // namespace
}  // namespace sluice
