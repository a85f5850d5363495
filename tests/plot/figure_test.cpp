#include "sluice/plot/figure.h"

#include "sluice/base/file.h"
#include "tests/base/expect_error.h"
#include "tests/base/temporary_directory.h"

namespace sluice {
namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Figure figure_with(std::function<void(Canvas&)> draw) {
  return {.width = 100, .height = 50, .title = "A <figure>", .draw = std::move(draw)};
}

Figure with_everything() {
  return figure_with([](Canvas& canvas) {
    const Point points[] = {{0, 0}, {10.126, 20}, {30, -0.001}};
    canvas.line(points, {.color = {1, 2, 3}, .width = 1.5, .dashes = {4, 2}});
    canvas.polygon(points, {255, 0, 0, 0.25});
    const Clip clip(canvas, {1, 2, 30, 40});
    canvas.disc({5, 6}, 2, {0, 255, 0});
    canvas.text({7, 8}, "upwards",
                {.anchor = Anchor::Middle, .weight = FontWeight::Bold, .turn = Turn::Left});
  });
}

TEST(Svg, holds_what_was_drawn) {
  const std::string svg = svg_of(with_everything());
  EXPECT_TRUE(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"100\" height=\"50\""));
  EXPECT_TRUE(has(svg, "<title>A &lt;figure&gt;</title>"));
  EXPECT_TRUE(has(svg, "stroke=\"#010203\" stroke-width=\"1.5\""));
  EXPECT_TRUE(has(svg, "stroke-dasharray=\"4 2\" points=\"0,0 10.13,20 30,0\""));
  EXPECT_TRUE(has(svg, "fill=\"#ff0000\" fill-opacity=\"0.25\""));
  EXPECT_TRUE(has(svg, "<circle fill=\"#00ff00\" cx=\"5\" cy=\"6\" r=\"2\"/>"));
  EXPECT_TRUE(has(svg, "<rect x=\"1\" y=\"2\" width=\"30\" height=\"40\"/>"));
  EXPECT_TRUE(
      has(svg, "text-anchor=\"middle\" font-weight=\"bold\" transform=\"rotate(-90 7 8)\">upwards</text>"));
  EXPECT_TRUE(svg.ends_with("</g>\n</svg>\n"));
}

TEST(Svg, text_of_strangers_stays_text) {
  const std::string svg = svg_of(figure_with([](Canvas& canvas) {
    canvas.text({0, 0}, "<script>\"&'\x01\n\xff", {});
  }));
  EXPECT_TRUE(has(svg, ">&lt;script&gt;&quot;&amp;&#39;  \xef\xbf\xbd</text>"));
}

TEST(Png, is_a_picture_with_two_pixels_per_unit) {
  const std::string png = png_of(with_everything());
  ASSERT_GT(png.size(), 24U);
  EXPECT_EQ(png.substr(0, 8), "\x89PNG\r\n\x1a\n");
  EXPECT_EQ(png.substr(16, 8), std::string("\0\0\0\xc8\0\0\0\x64", 8));
}

TEST(Png, takes_text_that_is_no_utf8) {
  EXPECT_NO_THROW(png_of(figure_with([](Canvas& canvas) { canvas.text({0, 9}, "\xff\x01", {}); })));
}

TEST(Figures, of_the_same_drawing_have_the_same_bytes) {
  EXPECT_EQ(svg_of(with_everything()), svg_of(with_everything()));
  EXPECT_EQ(png_of(with_everything()), png_of(with_everything()));
}

TEST(Figures, are_of_the_kind_that_their_name_says) {
  const TemporaryDirectory directory;
  write_figure(directory.path() / "a.svg", with_everything());
  write_figure(directory.path() / "a.png", with_everything());
  EXPECT_EQ(read_text(directory.path() / "a.svg", 1 << 20), svg_of(with_everything()));
  EXPECT_EQ(read_text(directory.path() / "a.png", 1 << 20), png_of(with_everything()));
  EXPECT_ERROR(write_figure("a.gif", with_everything()), ErrorKind::Usage,
               "a.gif: not a kind of figure: expected a name that ends in .svg or .png");
  EXPECT_ERROR(figure_format("svg"), ErrorKind::Usage,
               "svg: not a kind of figure: expected a name that ends in .svg or .png");
}

TEST(Figures, that_are_too_large_to_paint_are_a_failure) {
  Figure huge = with_everything();
  huge.width = 1e6;
  EXPECT_THROW(png_of(huge), Error);
}

}  // namespace
}  // namespace sluice
