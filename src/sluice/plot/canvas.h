// What figures are drawn on: lines, filled shapes, pictures, text. Units are those of the figure, y grows
// downwards. Behind it are SVG (plot/svg_canvas.h) and PNG (plot/png_canvas.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sluice {

struct Point {
  double x = 0, y = 0;
};

struct Segment {
  Point from, to;
};

struct Box {
  double left = 0, top = 0, width = 0, height = 0;

  double right() const { return left + width; }
  double bottom() const { return top + height; }
  bool contains(Point point) const {
    return point.x >= left && point.x <= right() && point.y >= top && point.y <= bottom();
  }
};

struct Color {
  uint8_t red = 0, green = 0, blue = 0;
  double opacity = 1;

  bool operator==(const Color&) const = default;
};

struct Stroke {
  Color color = {};
  double width = 1;
  std::vector<double> dashes = {};  // drawn, left out, drawn, …; empty: all drawn
};

enum class Anchor { Start, Middle, End };  // which part of a text is at its point
enum class FontWeight { Normal, Bold };
enum class Turn { None, Left };  // Left: reads upwards

struct TextStyle {
  double size = 11;
  Anchor anchor = Anchor::Start;
  FontWeight weight = FontWeight::Normal;
  Turn turn = Turn::None;
  Color color = {};
};

// Pixels of at most 256 colours, row after row from the top left. A colour is shown wholly or, with an
// opacity of 0, not at all.
struct IndexedImage {
  size_t width = 0, height = 0;
  std::vector<Color> palette = {};
  std::vector<uint8_t> pixels = {};  // [height × width], places in the palette
};

class Canvas {
 public:
  virtual ~Canvas() = default;

  // Lengths and coordinates must be finite.
  virtual void line(std::span<const Point> points, const Stroke& stroke) = 0;
  // Many straight lines of one look: hatching. One element where a canvas can hold them in one.
  virtual void segments(std::span<const Segment> segments, const Stroke& stroke);
  virtual void polygon(std::span<const Point> points, Color fill) = 0;
  virtual void disc(Point centre, double radius, Color fill) = 0;

  // Fills the box with the pixels, each a rectangle with sharp edges.
  virtual void image(const Box& box, const IndexedImage& image) = 0;

  // The point lies on the baseline. What is no printable UTF-8 is replaced.
  virtual void text(Point point, const std::string& text, const TextStyle& style) = 0;

  // Between the two only what falls into the box shows; callers use Clip.
  virtual void begin_clip(const Box& box) = 0;
  virtual void end_clip() = 0;

  void rectangle(const Box& box, Color fill);
};

// Shows only what falls into the box, as long as it lives.
class Clip {
 public:
  Clip(Canvas& canvas, const Box& box) : canvas_(canvas) { canvas_.begin_clip(box); }
  Clip(const Clip&) = delete;
  Clip& operator=(const Clip&) = delete;
  ~Clip() { canvas_.end_clip(); }

 private:
  Canvas& canvas_;
};

}  // namespace sluice
