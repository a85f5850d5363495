// Every kind of chart as a small picture, compared with the one in tests/golden/plot. Text becomes bars of
// its width: letters differ from machine to machine. SLUICE_WRITE_GOLDENS=1 writes the pictures anew.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "sluice/base/file.h"
#include "sluice/plot/png_canvas.h"
#include "sluice/plot/text_width.h"
#include "tests/plot/png_reader.h"
#include "tests/plot/sample_charts.h"

namespace sluice {
namespace {

class WordlessCanvas final : public Canvas {
 public:
  explicit WordlessCanvas(Canvas& canvas) : canvas_(canvas) {}

  void line(std::span<const Point> points, const Stroke& stroke) override { canvas_.line(points, stroke); }
  void polygon(std::span<const Point> points, Color fill) override { canvas_.polygon(points, fill); }
  void disc(Point centre, double radius, Color fill) override { canvas_.disc(centre, radius, fill); }
  void image(const Box& box, const IndexedImage& image) override { canvas_.image(box, image); }
  void text(Point point, const std::string& text, const TextStyle& style) override {
    const double width = text_width(text, style), height = style.size * 0.5;
    const double before = width * (style.anchor == Anchor::Start    ? 0
                                   : style.anchor == Anchor::Middle ? 0.5
                                                                    : 1);
    if (style.turn == Turn::None) {
      canvas_.rectangle({point.x - before, point.y - height, width, height}, style.color);
    } else {
      canvas_.rectangle({point.x - height, point.y - (width - before), height, width}, style.color);
    }
  }
  void begin_clip(const Box& box) override { canvas_.begin_clip(box); }
  void end_clip() override { canvas_.end_clip(); }

 private:
  Canvas& canvas_;
};

std::string small_picture(double width, double height, const std::function<void(Canvas&)>& draw) {
  PngCanvas painted({.width = width, .height = height, .pixels_per_unit = 0.5});
  painted.rectangle({0, 0, width, height}, {255, 255, 255});
  WordlessCanvas canvas(painted);
  draw(canvas);
  return painted.document();
}

std::string small_picture(const Panel& panel) {
  return small_picture(panel.width, panel.height, [&](Canvas& canvas) {
    panel.draw(canvas, {0, 0, panel.width, panel.height});
  });
}

int difference(const Color& a, const Color& b) {
  return std::max({std::abs(a.red - b.red), std::abs(a.green - b.green), std::abs(a.blue - b.blue)});
}

// What versions of Cairo may do otherwise is the shade of pixels on edges: on average less than this, and
// hardly one pixel becomes another.
std::string comparison(const Pixels& got, const Pixels& wanted) {
  constexpr double kMostOnAverage = 2, kMostShare = 0.004;
  constexpr int kOther = 64;
  if (got.width != wanted.width || got.height != wanted.height) return "another size";
  double sum = 0, others = 0;
  for (size_t i = 0; i < got.colors.size(); ++i) {
    const int here = difference(got.colors[i], wanted.colors[i]);
    sum += here;
    others += here > kOther ? 1 : 0;
  }
  const double pixels = static_cast<double>(got.colors.size());
  if (sum / pixels > kMostOnAverage) return "differs by " + std::to_string(sum / pixels) + " on average";
  if (others / pixels > kMostShare) return std::to_string(others) + " other pixels";
  return "";
}

void write_picture(const std::filesystem::path& path, const std::string& png) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << png;
}

void expect_golden(const std::string& name, const std::string& png) {
  const std::filesystem::path golden =
      std::filesystem::path(SLUICE_SOURCE_DIR) / "tests/golden/plot" / (name + ".png");
  if (std::getenv("SLUICE_WRITE_GOLDENS") != nullptr) return write_picture(golden, png);
  const std::string stored = read_text(golden, 1 << 20);
  const std::string verdict = comparison(PngReader(png).read(), PngReader(stored).read());
  if (verdict.empty()) return;
  const std::filesystem::path seen =
      std::filesystem::path(::testing::TempDir()) / ("sluice-" + name + ".png");
  write_picture(seen, png);
  ADD_FAILURE() << name << ": " << verdict << "; drawn: " << seen << ", stored: " << golden;
}

TEST(ChartImages, look_as_they_did) {
  for (const SampleChart& chart : sample_charts())
    expect_golden(chart.name, small_picture(chart.make({6, 8})));
  expect_golden("large_heat_map", small_picture(sample_charts().front().make({64, 64})));
  const Figure panels = sample_panels(40);
  expect_golden("panels", small_picture(panels.width, panels.height, panels.draw));
}

TEST(ChartImages, that_are_not_the_same_are_told_apart) {
  const auto picture_of = [](SampleModel model) {
    return PngReader(small_picture(sample_charts().front().make(model))).read();
  };
  EXPECT_EQ(comparison(picture_of({6, 8}), picture_of({6, 8})), "");
  EXPECT_EQ(comparison(picture_of({6, 8}), picture_of({7, 8})), "another size");
  Pixels other = picture_of({6, 8});
  for (size_t i = 0; i < other.colors.size(); i += 200) other.colors[i] = {255, 0, 255};
  EXPECT_NE(comparison(other, picture_of({6, 8})), "");
}

}  // namespace
}  // namespace sluice
