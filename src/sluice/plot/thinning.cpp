#include "sluice/plot/thinning.h"

#include <algorithm>
#include <cmath>

namespace sluice {
namespace {

bool is_above(const Point& a, const Point& b) {
  return a.y < b.y;
}

void append_extremes(std::span<const Point> column, std::vector<Point>& out) {
  const auto [low, high] = std::minmax_element(column.begin(), column.end(), is_above);
  std::vector<size_t> kept = {0, static_cast<size_t>(low - column.begin()),
                              static_cast<size_t>(high - column.begin()), column.size() - 1};
  std::ranges::sort(kept);
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  for (const size_t index : kept) out.push_back(column[index]);
}

}  // namespace

std::vector<Point> thinned(std::span<const Point> points, double column) {
  std::vector<Point> result;
  while (!points.empty()) {
    const double number = std::floor(points.front().x / column);
    size_t count = 1;
    while (count < points.size() && std::floor(points[count].x / column) == number) ++count;
    append_extremes(points.first(count), result);
    points = points.subspan(count);
  }
  return result;
}

}  // namespace sluice
