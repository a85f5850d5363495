// A canvas that writes SVG. Text stays text, so no font is needed to draw, and the same drawing gives the
// same bytes on every machine (why not Cairo's SVG: docs/decisions/0003-figures.md).
#pragma once

#include <set>

#include "sluice/plot/canvas.h"

namespace sluice {

class SvgCanvas final : public Canvas {
 public:
  struct Page {
    double width = 0, height = 0;
    std::string title = {};  // what a screen reader says
  };
  explicit SvgCanvas(const Page& page);

  void line(std::span<const Point> points, const Stroke& stroke) override;
  void segments(std::span<const Segment> segments, const Stroke& stroke) override;
  void polygon(std::span<const Point> points, Color fill) override;
  void disc(Point centre, double radius, Color fill) override;
  void image(const Box& box, const IndexedImage& image) override;
  void text(Point point, const std::string& text, const TextStyle& style) override;
  void begin_clip(const Box& box) override;
  void end_clip() override;

  // The whole document, without an XML declaration: it can stand inside HTML as it is.
  std::string document() const;

 private:
  std::string body_;
  std::set<std::string> clips_;  // names of those that are defined
};

}  // namespace sluice
