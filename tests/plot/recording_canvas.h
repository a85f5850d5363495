// A canvas that remembers what was drawn on it.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "sluice/plot/canvas.h"
#include "sluice/plot/text_width.h"

namespace sluice {

class RecordingCanvas final : public Canvas {
 public:
  struct Line {
    std::vector<Point> points;
    Stroke stroke;
    bool is_clipped = false;
  };
  struct Disc {
    Point centre;
    double radius;
    Color fill;
  };
  struct Image {
    Box box;
    IndexedImage image;
  };
  struct Text {
    std::string text;
    Box box;
  };

  void line(std::span<const Point> points, const Stroke& stroke) override {
    lines.push_back({{points.begin(), points.end()}, stroke, clips_ > 0});
  }
  void polygon(std::span<const Point> points, Color fill) override {
    polygons.push_back({{points.begin(), points.end()}, {.color = fill}, clips_ > 0});
  }
  void disc(Point centre, double radius, Color fill) override { discs.push_back({centre, radius, fill}); }
  void image(const Box& box, const IndexedImage& image) override { images.push_back({box, image}); }
  void text(Point point, const std::string& text, const TextStyle& style) override {
    const double width = text_width(text, style), height = style.size * 0.75;  // of capitals
    const double before = width * (style.anchor == Anchor::Start    ? 0
                                   : style.anchor == Anchor::Middle ? 0.5
                                                                    : 1);
    if (style.turn == Turn::None) {
      texts.push_back({text, {point.x - before, point.y - height, width, height}});
    } else {
      texts.push_back({text, {point.x - height, point.y - (width - before), height, width}});
    }
  }
  void begin_clip(const Box&) override { ++clips_; }
  void end_clip() override { --clips_; }

  // Lines of this colour, without those of the axes.
  std::vector<Line> lines_of(Color color) const {
    std::vector<Line> result;
    std::ranges::copy_if(lines, std::back_inserter(result),
                         [&](const Line& each) { return each.stroke.color == color; });
    return result;
  }

  bool says(const std::string& wanted) const {
    return std::ranges::any_of(texts, [&](const Text& each) { return each.text == wanted; });
  }

  // Two texts that overlap, or one that leaves the page; empty if there is nothing of the kind.
  std::string collision(const Box& page) const {
    for (size_t i = 0; i < texts.size(); ++i) {
      const Box& a = texts[i].box;
      if (!page.contains({a.left, a.top}) || !page.contains({a.right(), a.bottom()}))
        return texts[i].text + " leaves the page";
      for (size_t j = 0; j < i; ++j) {
        const Box& b = texts[j].box;
        if (a.left < b.right() && b.left < a.right() && a.top < b.bottom() && b.top < a.bottom())
          return texts[i].text + " over " + texts[j].text;
      }
    }
    return "";
  }

  // The first shape that leaves the page; empty if there is none. What is clipped cannot leave.
  std::string escape(const Box& page) const {
    const auto where = [](const char* shape, Point at) {
      return std::string(shape) + " at " + std::to_string(at.x) + ", " + std::to_string(at.y);
    };
    for (const auto* shapes : {&lines, &polygons})
      for (const Line& each : *shapes)
        for (const Point& point : each.points)
          if (!each.is_clipped && !page.contains(point))
            return where(shapes == &lines ? "line" : "area", point);
    for (const Disc& each : discs)
      if (!page.contains(each.centre)) return where("disc", each.centre);
    for (const Image& each : images)
      if (!page.contains({each.box.left, each.box.top}) ||
          !page.contains({each.box.right() - 1e-6, each.box.bottom() - 1e-6}))
        return where("image", {each.box.left, each.box.top});
    return "";
  }

  std::vector<Line> lines, polygons;
  std::vector<Disc> discs;
  std::vector<Image> images;
  std::vector<Text> texts;

 private:
  int clips_ = 0;
};

}  // namespace sluice
