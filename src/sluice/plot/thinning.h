// Fewer points that look the same.
#pragma once

#include <span>
#include <vector>

#include "sluice/plot/canvas.h"

namespace sluice {

// Of the points that follow each other within one column of the given width: the first, the lowest, the
// highest and the last. A line through them covers the same pixels, and no peak is lost.
std::vector<Point> thinned(std::span<const Point> points, double column);

}  // namespace sluice
