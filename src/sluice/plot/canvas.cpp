#include "sluice/plot/canvas.h"

namespace sluice {

void Canvas::rectangle(const Box& box, Color fill) {
  const Point corners[] = {
      {box.left, box.top}, {box.right(), box.top}, {box.right(), box.bottom()}, {box.left, box.bottom()}};
  polygon(corners, fill);
}

}  // namespace sluice
