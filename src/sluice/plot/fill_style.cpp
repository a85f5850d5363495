#include "sluice/plot/fill_style.h"

#include <algorithm>
#include <cmath>

#include "sluice/plot/series.h"

namespace sluice {
namespace {

constexpr double kPaleness = 0.62;    // of the area: hatching and outline stand out, and text does
constexpr double kHatchDistance = 5;  // between lines, along either axis
constexpr Hatch kHatches[] = {Hatch::None, Hatch::Rising, Hatch::Falling, Hatch::Level, Hatch::Crossed};

// Lines x + y = c with c a multiple of the distance, so that boxes beside each other fit together.
void add_rising(const Box& box, std::vector<Segment>& lines) {
  const double last = box.right() + box.bottom();
  for (double c = std::ceil((box.left + box.top) / kHatchDistance) * kHatchDistance; c < last;
       c += kHatchDistance) {
    const double left = std::max(box.left, c - box.bottom()), right = std::min(box.right(), c - box.top);
    if (left < right) lines.push_back({{left, c - left}, {right, c - right}});
  }
}

// Lines x - y = c.
void add_falling(const Box& box, std::vector<Segment>& lines) {
  const double last = box.right() - box.top;
  for (double c = std::ceil((box.left - box.bottom()) / kHatchDistance) * kHatchDistance; c < last;
       c += kHatchDistance) {
    const double left = std::max(box.left, c + box.top), right = std::min(box.right(), c + box.bottom());
    if (left < right) lines.push_back({{left, left - c}, {right, right - c}});
  }
}

void add_level(const Box& box, std::vector<Segment>& lines) {
  for (double y = std::ceil(box.top / kHatchDistance) * kHatchDistance; y < box.bottom(); y += kHatchDistance)
    lines.push_back({{box.left, y}, {box.right(), y}});
}

}  // namespace

FillStyle fill_number(size_t index) {
  return {style_number(index).color, kHatches[index % std::size(kHatches)]};
}

Color paler(Color color, double share) {
  const auto part = [&](uint8_t value) {
    return static_cast<uint8_t>(std::lround(value + (255 - value) * share));
  };
  return {part(color.red), part(color.green), part(color.blue), color.opacity};
}

void draw_hatching(Canvas& canvas, const Box& box, Hatch hatch, const Stroke& stroke) {
  std::vector<Segment> lines;
  if (hatch == Hatch::Rising || hatch == Hatch::Crossed) add_rising(box, lines);
  if (hatch == Hatch::Falling || hatch == Hatch::Crossed) add_falling(box, lines);
  if (hatch == Hatch::Level) add_level(box, lines);
  canvas.segments(lines, stroke);
}

void draw_filled(Canvas& canvas, const Box& box, const FillStyle& style) {
  canvas.rectangle(box, paler(style.color, kPaleness));
  draw_hatching(canvas, box, style.hatch, {.color = style.color, .width = 0.7});
  const Point around[] = {{box.left, box.top},
                          {box.right(), box.top},
                          {box.right(), box.bottom()},
                          {box.left, box.bottom()},
                          {box.left, box.top}};
  canvas.line(around, {.color = style.color, .width = 0.9});
}

}  // namespace sluice
