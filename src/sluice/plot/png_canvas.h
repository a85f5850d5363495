// A canvas that paints pixels with Cairo. Letters come from the fonts of the machine; without any, Cairo has
// a plain one of its own.
#pragma once

#include <memory>

#include "sluice/plot/canvas.h"

typedef struct _cairo cairo_t;
typedef struct _cairo_surface cairo_surface_t;

namespace sluice {

class PngCanvas final : public Canvas {
 public:
  struct Page {
    double width = 0, height = 0;
    double pixels_per_unit = 2;  // sharp on dense screens and on paper
  };
  explicit PngCanvas(const Page& page);

  void line(std::span<const Point> points, const Stroke& stroke) override;
  void polygon(std::span<const Point> points, Color fill) override;
  void disc(Point centre, double radius, Color fill) override;
  void image(const Box& box, const IndexedImage& image) override;
  void text(Point point, const std::string& text, const TextStyle& style) override;
  void begin_clip(const Box& box) override;
  void end_clip() override;

  // The file's bytes. Failure if Cairo met a problem on the way.
  std::string document();

 private:
  void path(std::span<const Point> points);
  void check() const;

  std::unique_ptr<cairo_surface_t, void (*)(cairo_surface_t*)> surface_;
  std::unique_ptr<cairo_t, void (*)(cairo_t*)> cairo_;
};

}  // namespace sluice
