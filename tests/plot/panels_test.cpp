#include "sluice/plot/panels.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sluice/base/assert.h"
#include "sluice/plot/text_width.h"
#include "tests/plot/recording_canvas.h"
#include "tests/plot/sample_charts.h"

namespace sluice {
namespace {

Panel plain_panel(std::string title, double width = 200, double height = 100) {
  return {.width = width, .height = height, .title = title, .draw = [title](Canvas& canvas, const Box& box) {
            canvas.rectangle(box, {});
            canvas.text({box.left, box.top + 20}, title, {});
          }};
}

RecordingCanvas drawn(const Figure& figure) {
  RecordingCanvas canvas;
  figure.draw(canvas);
  return canvas;
}

std::string all_words(const RecordingCanvas& canvas) {
  std::string words;
  for (const auto& text : canvas.texts) words += text.text + " ";
  return words;
}

TEST(Panels, stand_in_a_grid_row_after_row) {
  Panels panels{.columns = 2};
  for (const char* name : {"a", "b", "c"}) panels.panels.push_back(plain_panel(name));
  const RecordingCanvas canvas = drawn(figure_of(panels));
  ASSERT_EQ(canvas.texts.size(), 3U);
  EXPECT_LT(canvas.texts[0].box.left, canvas.texts[1].box.left);
  EXPECT_EQ(canvas.texts[0].box.left, canvas.texts[2].box.left);
  EXPECT_LT(canvas.texts[0].box.top, canvas.texts[2].box.top);
}

TEST(Panels, stand_below_each_other_where_a_row_is_wider_than_a_page) {
  Panels panels{.columns = 2};
  for (const char* name : {"a", "b"}) panels.panels.push_back(plain_panel(name));
  panels.panels.front().width = 900;
  const RecordingCanvas wrapped = drawn(figure_of(panels));
  EXPECT_EQ(wrapped.texts[0].box.left, wrapped.texts[1].box.left);
  EXPECT_LT(wrapped.texts[0].box.top, wrapped.texts[1].box.top);

  panels.wraps = false;
  const RecordingCanvas wide = drawn(figure_of(panels));
  EXPECT_LT(wide.texts[0].box.left, wide.texts[1].box.left);
}

TEST(Panels, have_a_title_for_screen_readers_in_any_case) {
  EXPECT_EQ(figure_of(plain_panel("Gates")).title, "Gates");
  EXPECT_EQ(figure_of(Panels{.panels = {plain_panel("a"), plain_panel("b")}}).title, "a; b");
  EXPECT_EQ(figure_of(Panels{.title = "All", .panels = {plain_panel("a")}}).title, "All");
  for (const SampleChart& chart : sample_charts())
    EXPECT_NE(figure_of(chart.make({6, 8})).title, "") << chart.name;
}

TEST(Panels, wrap_the_caption_and_cut_nothing_of_it) {
  std::string caption;
  for (int i = 0; i < 120; ++i) caption += "word" + std::to_string(i) + " ";
  const Figure figure = figure_of(plain_panel("a"), {caption, "Second paragraph."});
  const RecordingCanvas canvas = drawn(figure);
  EXPECT_EQ(canvas.collision({0, 0, figure.width, figure.height}), "");
  const std::string words = all_words(canvas);
  EXPECT_NE(words.find(caption), std::string::npos);
  EXPECT_TRUE(canvas.says("Second paragraph."));
}

TEST(Panels, make_room_for_a_caption_below_a_narrow_chart) {
  EXPECT_GE(figure_of(plain_panel("a", 50, 50), {"A caption."}).width, 340);
}

TEST(Panels, refuse_to_be_none) {
  EXPECT_THROW(figure_of(Panels{}), AssertionError);
}

TEST(SharedColors, cover_the_values_of_all_maps) {
  std::vector<HeatMap> maps = {
      {.rows = 1, .columns = 2, .values = {1, 2}, .color = {.label = "a"}},
      {.rows = 1, .columns = 2, .values = {-3, std::nan("")}, .color = {.label = "b"}}};
  const ColorAxis shared = share_colors(maps);
  EXPECT_EQ(shared.extent().low, -3);
  EXPECT_EQ(shared.extent().high, 2);
  for (const HeatMap& map : maps) {
    EXPECT_EQ(map.color.label, "a");
    EXPECT_EQ(map.color_bar, ColorBarPlace::None);
  }
}

TEST(SharedColors, keep_what_the_bar_says_about_values_beyond_its_ends) {
  std::vector<HeatMap> maps = {
      {.rows = 1, .columns = 2, .values = {1e-30, 1}, .color = {.scale = AxisScale::Log}}};
  EXPECT_TRUE(share_colors(maps).cuts_low());
  EXPECT_GT(maps[0].color.extent.low, 1e-7);
}

TEST(SharedColors, of_one_bar_beside_all_maps) {
  const Figure figure = sample_panels(64);
  const RecordingCanvas canvas = drawn(figure);
  EXPECT_EQ(canvas.images.size(), 5U) << "four maps and one bar";
}

TEST(Svg, of_a_large_figure_stays_small) {
  EXPECT_LT(svg_of(sample_panels(512)).size(), 1'000'000U);
}

TEST(Wrapping, breaks_between_words_and_inside_those_that_are_too_long) {
  const TextStyle style{.size = 10};
  EXPECT_EQ(wrapped("a b", style, 1000), (std::vector<std::string>{"a b"}));
  EXPECT_TRUE(wrapped("  ", style, 100).empty());
  std::string joined;
  for (const std::string& line : wrapped("short " + std::string(100, 'm') + " end ähh", style, 60)) {
    EXPECT_LE(text_width(line, style), 60) << line;
    joined += line;
  }
  std::erase(joined, ' ');
  EXPECT_EQ(joined, "short" + std::string(100, 'm') + "endähh");
  EXPECT_EQ(wrapped("wide", style, 1).size(), 4U) << "a character a line, however narrow";
}

}  // namespace
}  // namespace sluice
