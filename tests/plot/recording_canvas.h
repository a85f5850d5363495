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
  };
  struct Disc {
    Point centre;
    double radius;
    Color fill;
  };
  struct Text {
    std::string text;
    Box box;
  };

  void line(std::span<const Point> points, const Stroke& stroke) override {
    lines.push_back({{points.begin(), points.end()}, stroke});
  }
  void polygon(std::span<const Point> points, Color fill) override {
    polygons.push_back({{points.begin(), points.end()}, {.color = fill}});
  }
  void disc(Point centre, double radius, Color fill) override { discs.push_back({centre, radius, fill}); }
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
  void begin_clip(const Box&) override {}
  void end_clip() override {}

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

  std::vector<Line> lines, polygons;
  std::vector<Disc> discs;
  std::vector<Text> texts;
};

}  // namespace sluice
