#include "sluice/plot/token_strip.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sluice/base/assert.h"
#include "sluice/plot/panels.h"
#include "sluice/plot/token_text.h"
#include "tests/plot/recording_canvas.h"

namespace sluice {
namespace {

TokenStrip strip_of(std::vector<std::string> tokens) {
  TokenStrip strip{.color = {.label = "gate"}};
  strip.values.assign(tokens.size(), 0.5);
  strip.tokens = std::move(tokens);
  return strip;
}

RecordingCanvas drawn(const TokenStrip& strip) {
  RecordingCanvas canvas;
  draw_token_strip(canvas, {0, 0, 400, token_strip_height(strip, 400)}, strip);
  return canvas;
}

TEST(TokenText, shows_what_cannot_be_seen) {
  EXPECT_EQ(token_text(" a b"), "·a·b");
  EXPECT_EQ(token_text("\n\t"), "⏎→");
  EXPECT_EQ(token_text(std::string_view("\0\x7f\x1b", 3)), "\ufffd\ufffd\ufffd");
  EXPECT_EQ(token_text("\xc3"), "\ufffd") << "half a character";
  EXPECT_EQ(token_text("\u202e\u200b"), "\ufffd\ufffd") << "would turn around what follows, or be nothing";
  EXPECT_EQ(token_text(""), "∅");
  EXPECT_EQ(token_text("naïve 中"), "naïve·中");
}

TEST(TokenStrip, shades_tokens_in_their_order) {
  TokenStrip strip = strip_of({"a", " b", " c"});
  strip.values = {0, 0.5, 1};
  const RecordingCanvas canvas = drawn(strip);
  EXPECT_TRUE(canvas.says("a") && canvas.says("·b"));
  EXPECT_EQ(canvas.polygons[0].stroke.color, color_at(ColorMap::Sequential, 0));
  EXPECT_EQ(canvas.polygons[2].stroke.color, color_at(ColorMap::Sequential, 1));
  EXPECT_LT(canvas.texts[0].box.left, canvas.texts[1].box.left);
}

TEST(TokenStrip, goes_on_below_at_the_end_of_the_width_and_of_a_line) {
  const RecordingCanvas canvas = drawn(strip_of({"first", "\n", "second"}));
  EXPECT_GT(canvas.texts[2].box.top, canvas.texts[0].box.top);
  const RecordingCanvas many = drawn(strip_of(std::vector<std::string>(30, "token")));
  EXPECT_GT(many.texts[29].box.top, many.texts[0].box.top);
  EXPECT_EQ(many.texts[29].box.height, many.texts[0].box.height);
}

TEST(TokenStrip, hatches_tokens_without_a_value) {
  TokenStrip strip = strip_of({"a", "b"});
  const size_t before = drawn(strip).lines.size();
  strip.values[1] = std::nan("");
  EXPECT_GT(drawn(strip).lines.size(), before);
}

TEST(TokenStrip, of_ten_thousand_tokens_counts_those_it_leaves_out) {
  const TokenStrip strip = strip_of(std::vector<std::string>(10000, " token"));
  RecordingCanvas canvas;
  const Box box{0, 0, 400, token_strip_height(strip, 400)};
  draw_token_strip(canvas, box, strip);
  EXPECT_EQ(canvas.collision(box), "");
  EXPECT_EQ(canvas.escape(box), "");
  const size_t shown = canvas.polygons.size();
  EXPECT_TRUE(canvas.says("... and " + std::to_string(10000 - shown) + " more tokens"));
  EXPECT_LT(box.height, 1500);
}

TEST(TokenStrip, takes_one_token_none_and_very_long_ones) {
  EXPECT_TRUE(drawn(strip_of({})).says("no tokens"));
  EXPECT_EQ(drawn(strip_of({"x"})).collision({0, 0, 400, 300}), "");
  const TokenStrip strip = strip_of({std::string(5000, 'w'), "<|endoftext|>", ""});
  EXPECT_EQ(drawn(strip).collision({0, 0, 400, 300}), "");
}

TEST(TokenStrip, escapes_what_tokens_say) {
  const std::string svg = svg_of(figure_of(panel_of(strip_of({"<script>", "&", "\xff", "\"'"}))));
  EXPECT_NE(svg.find("&lt;script&gt;"), std::string::npos);
  EXPECT_EQ(svg.find("<script"), std::string::npos);
}

TEST(TokenStrip, refuses_tokens_without_values) {
  TokenStrip strip = strip_of({"a"});
  strip.values.clear();
  EXPECT_THROW(drawn(strip), AssertionError);
}

}  // namespace
}  // namespace sluice
