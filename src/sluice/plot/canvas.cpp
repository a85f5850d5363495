#include "sluice/plot/canvas.h"

namespace sluice {

void Canvas::segments(std::span<const Segment> segments, const Stroke& stroke) {
  for (const Segment& each : segments) {
    const Point ends[] = {each.from, each.to};
    line(ends, stroke);
  }
}

void Canvas::rectangle(const Box& box, Color fill) {
  const Point corners[] = {
      {box.left, box.top}, {box.right(), box.top}, {box.right(), box.bottom()}, {box.left, box.bottom()}};
  polygon(corners, fill);
}

}  // namespace sluice
