// A chart with the size at which it looks well; figures are put together from panels (plot/panels.h).
#pragma once

#include <functional>
#include <string>

#include "sluice/plot/canvas.h"

namespace sluice {

struct Panel {
  double width = 0, height = 0;
  std::string title;  // for screen readers
  std::function<void(Canvas&, const Box&)> draw;
};

}  // namespace sluice
