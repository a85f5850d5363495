#include "sluice/plot/box_chart.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "sluice/base/assert.h"
#include "sluice/plot/category_frame.h"
#include "sluice/plot/chart_style.h"
#include "sluice/plot/fill_style.h"
#include "sluice/plot/series.h"

namespace sluice {
namespace {

std::array<double, 5> quantiles_of(const BoxSummary& box) {
  return {box.low, box.lower, box.median, box.upper, box.high};
}

bool is_shown(AxisScale scale, const BoxSummary& box) {
  return std::ranges::all_of(quantiles_of(box), [&](double value) { return is_on(scale, value); });
}

bool is_off_axis(AxisScale scale, const BoxSummary& box) {
  return is_shown(AxisScale::Linear, box) && !is_shown(scale, box);
}

size_t category_count(const BoxChart& chart) {
  size_t count = chart.x.names.size();
  for (const BoxGroup& group : chart.groups) count = std::max(count, group.boxes.size());
  return count;
}

Extent box_extent(const BoxChart& chart) {
  Extent extent;
  for (const BoxGroup& group : chart.groups) {
    for (const BoxSummary& box : group.boxes) {
      if (!is_shown(chart.y.scale, box)) continue;
      extent = extent_on(chart.y, {box.low, box.high, box.mean}, extent);
    }
  }
  return extent;
}

Axis box_axis(const BoxChart& chart) {
  Axis axis(box_extent(chart), chart.y.scale);
  axis.pad(0.05);
  return axis;
}

void draw_median(Canvas& canvas, double left, double right, double y) {
  const Point line[] = {{left, y}, {right, y}};
  canvas.line(line, {.color = {0, 0, 0}, .width = 1.8});
}

void draw_whiskers(Canvas& canvas, const Box& body, double top, double bottom) {
  const double middle = body.left + body.width / 2, half = body.width / 4;
  const Segment lines[] = {{{middle, top}, {middle, body.top}},
                           {{middle, body.bottom()}, {middle, bottom}},
                           {{middle - half, top}, {middle + half, top}},
                           {{middle - half, bottom}, {middle + half, bottom}}};
  canvas.segments(lines, {.color = kInk, .width = 0.9});
}

// White with a dark edge: seen on the box and beside it.
void draw_mean(Canvas& canvas, Point at, double width) {
  constexpr double kEdge = 0.9;
  const double radius = std::clamp(width / 5, 1.2, 2.6);
  draw_marker(canvas, at, {.color = {0, 0, 0}, .marker = Marker::Diamond, .radius = radius + kEdge});
  draw_marker(canvas, at, {.color = kPaper, .marker = Marker::Diamond, .radius = radius});
}

struct BoxPlace {
  Box slot;
  FillStyle style;
};

void draw_summary(Canvas& canvas, const CategoryFrame& frame, const BoxPlace& place, const BoxSummary& box) {
  const auto& [slot, style] = place;
  const double gap = slot.width * 0.12;
  const double upper = frame.upwards(box.upper), lower = frame.upwards(box.lower);
  const Box body{slot.left + gap / 2, upper, slot.width - gap, lower - upper};
  draw_whiskers(canvas, body, frame.upwards(box.high), frame.upwards(box.low));
  draw_filled(canvas, body, style);
  draw_median(canvas, body.left, body.right(), frame.upwards(box.median));
}

Heading box_heading(const BoxChart& chart) {
  size_t off_axis = 0;
  for (const BoxGroup& group : chart.groups)
    off_axis += static_cast<size_t>(std::ranges::count_if(
        group.boxes, [&](const BoxSummary& box) { return is_off_axis(chart.y.scale, box); }));
  Heading heading{.title = chart.title, .note = off_axis_note(off_axis)};
  if (chart.legend == LegendPlace::None) return heading;
  for (size_t i = 0; i < chart.groups.size(); ++i)
    if (!chart.groups[i].name.empty())
      heading.legend.push_back({.name = chart.groups[i].name, .fill = fill_number(i)});
  return heading;
}

void draw_group(Canvas& canvas, const BoxChart& chart, const CategoryFrame& frame, size_t group) {
  for (size_t i = 0; i < chart.groups[group].boxes.size(); ++i) {
    const BoxSummary& box = chart.groups[group].boxes[i];
    if (!is_shown(chart.y.scale, box)) continue;
    const Box slot = frame.slot(i, group);
    draw_summary(canvas, frame, {slot, fill_number(group)}, box);
    if (is_on(chart.y.scale, box.mean))
      draw_mean(canvas, {slot.left + slot.width / 2, frame.upwards(box.mean)}, slot.width);
  }
}

}  // namespace

void draw_box_chart(Canvas& canvas, const Box& box, const BoxChart& chart) {
  const size_t categories = category_count(chart);
  for (const BoxGroup& group : chart.groups)
    SLUICE_ASSERT(group.boxes.size() == categories, "box chart: {} has {} boxes for {} categories",
                  group.name, group.boxes.size(), categories);
  const Box room = draw_heading(canvas, box, box_heading(chart));
  if (box_extent(chart).is_empty()) return draw_emptiness(canvas, room, chart.empty);
  const CategoryFrame frame(room, {chart.x, categories, chart.groups.size(), box_axis(chart), chart.y.label});
  frame.draw_axes(canvas);
  for (size_t i = 0; i < chart.groups.size(); ++i) draw_group(canvas, chart, frame, i);
  draw_edges(canvas, frame.area());
}

Panel panel_of(BoxChart chart) {
  constexpr double kAreaHeight = 260, kNamesHeight = 50;
  const double width = category_chart_width(category_count(chart), std::max<size_t>(chart.groups.size(), 1));
  std::string title = chart.title.empty() ? "Box chart" : chart.title;
  return {.width = width,
          .height = kAreaHeight + kNamesHeight + heading_height(box_heading(chart), width),
          .title = std::move(title),
          .draw = [chart = std::move(chart)](Canvas& canvas, const Box& box) {
            draw_box_chart(canvas, box, chart);
          }};
}

}  // namespace sluice
