#include "sluice/plot/ridge_chart.h"

#include <algorithm>

#include "sluice/plot/chart_style.h"
#include "sluice/plot/color_map.h"

namespace sluice {
namespace {

constexpr double kReach = 1.8;  // of the highest ridge, in distances between two: it overlaps the one above

Extent ridge_extent(const RidgeChart& chart) {
  Extent extent;
  for (const Ridge& ridge : chart.ridges)
    if (ridge.bins.total() > 0) extent = extent_on(chart.x, ridge.bins.edges, extent);
  return extent;
}

CategoryAxis ridge_names(const RidgeChart& chart) {
  CategoryAxis axis{.label = chart.y_label};
  for (const Ridge& ridge : chart.ridges) axis.names.push_back(ridge.name);
  return axis;
}

// The lines that ridges stand on, at equal distances; the last is the edge of the area, the first so far from
// the top that its ridge has room.
struct RidgeLayout {
  ChartFrame frame;
  CategoryLabels names;
  double pitch = 0;
  size_t count = 0;

  double baseline(size_t index) const {
    return frame.area.bottom() - pitch * static_cast<double>(count - 1 - index);
  }
  // Where names belong: each a little above its line.
  Box beside() const {
    constexpr double kRaised = 4;
    const Box& area = frame.area;
    return {area.left, baseline(0) - pitch / 2 - kRaised, area.width, pitch * static_cast<double>(count)};
  }
};

RidgeLayout ridge_layout(const Box& room, const RidgeChart& chart) {
  constexpr double kRightOfArea = 16;  // half of the last tick's label
  Axis x(ridge_extent(chart), chart.x.scale);
  x.pad(0.01);
  const size_t count = chart.ridges.size();
  const double height = std::max(room.height - x_axis_height(chart.x.label), 4.0);
  const double pitch = height / (static_cast<double>(count) - 1 + kReach);
  const CategoryLabels names(ridge_names(chart), count, CategoryLabels::Side::Left, pitch);
  const Box area{room.left + names.room(), room.top, room.width - names.room() - kRightOfArea, height};
  return {{room, area, x, Axis({}, AxisScale::Linear), chart.x.label, ""}, names, pitch, count};
}

std::vector<std::vector<Point>> ridge_lines(const RidgeChart& chart) {
  std::vector<std::vector<Point>> lines;
  for (const Ridge& ridge : chart.ridges) {
    lines.push_back(smoothed_density(ridge.bins));
    std::erase_if(lines.back(), [&](const Point& point) { return !is_on(chart.x.scale, point.x); });
  }
  return lines;
}

double peak_of(const std::vector<Point>& line) {
  double peak = 0;
  for (const Point& point : line) peak = std::max(peak, point.y);
  return peak;
}

// Deeper ridges are darker; the outline separates them in print.
Color depth_color(size_t index, size_t count) {
  constexpr double kFirst = 0.12, kLast = 0.78;
  return color_at(ColorMap::Sequential, kFirst + (kLast - kFirst) * (static_cast<double>(index) + 0.5) /
                                                     static_cast<double>(count));
}

void draw_ridge(Canvas& canvas, const RidgeLayout& layout, size_t index, std::vector<Point> line) {
  const double base = layout.baseline(index), height = layout.pitch * kReach;
  for (Point& point : line) point = {layout.frame.across(point.x), base - point.y * height};
  if (line.size() > 1) {
    std::vector<Point> around = line;
    around.push_back({line.back().x, base});
    around.push_back({line.front().x, base});
    canvas.polygon(around, with_opacity(depth_color(index, layout.count), 0.88));
    canvas.line(line, {.color = kInk, .width = 0.9});
  }
  const Point ground[] = {{layout.frame.area.left, base}, {layout.frame.area.right(), base}};
  canvas.line(ground, {.color = kQuiet, .width = 0.5});
}

}  // namespace

void draw_ridge_chart(Canvas& canvas, const Box& box, const RidgeChart& chart) {
  const Box room = draw_heading(canvas, box, {.title = chart.title});
  if (ridge_extent(chart).is_empty()) return draw_emptiness(canvas, room, chart.empty);
  const RidgeLayout layout = ridge_layout(room, chart);
  draw_x_axis(canvas, layout.frame);
  std::vector<std::vector<Point>> lines = ridge_lines(chart);
  double highest = 0;
  for (const auto& line : lines) highest = std::max(highest, peak_of(line));
  for (size_t i = 0; i < lines.size(); ++i) {
    const double peak = chart.height == RidgeHeight::Own ? peak_of(lines[i]) : highest;
    for (Point& point : lines[i]) point.y /= peak;
    draw_ridge(canvas, layout, i, std::move(lines[i]));
  }
  layout.names.draw(canvas, layout.beside(), room);
}

Panel panel_of(RidgeChart chart) {
  constexpr double kNaturalWidth = 460, kPerRidge = 24, kLowest = 150, kHighest = 680;
  const double ridges = std::clamp(static_cast<double>(chart.ridges.size()) * kPerRidge, kLowest, kHighest);
  std::string title = chart.title.empty() ? "Ridgelines" : chart.title;
  return {
      .width = kNaturalWidth,
      .height = ridges + x_axis_height(chart.x.label) + heading_height({.title = chart.title}, kNaturalWidth),
      .title = std::move(title),
      .draw = [chart = std::move(chart)](Canvas& canvas, const Box& box) {
        draw_ridge_chart(canvas, box, chart);
      }};
}

}  // namespace sluice
