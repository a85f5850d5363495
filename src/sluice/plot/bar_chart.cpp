#include "sluice/plot/bar_chart.h"

#include <algorithm>
#include <cmath>

#include "sluice/base/assert.h"
#include "sluice/plot/category_frame.h"
#include "sluice/plot/chart_style.h"
#include "sluice/plot/fill_style.h"
#include "sluice/plot/series.h"

namespace sluice {
namespace {

size_t category_count(const BarChart& chart) {
  size_t count = chart.x.names.size();
  for (const BarGroup& group : chart.groups) count = std::max(count, group.values.size());
  return count;
}

Extent bar_extent(const BarChart& chart) {
  Extent extent = extent_on(chart.y, {});
  for (const BarGroup& group : chart.groups)
    for (const auto* values : {&group.values, &group.low, &group.high})
      extent = extent_on(chart.y, *values, extent);
  for (const BarGroup& group : chart.groups)
    for (const std::vector<double>& points : group.points) extent = extent_on(chart.y, points, extent);
  return extent;
}

// Bars stand on something: 0, or where there is none a little below the lowest.
Axis bar_axis(const BarChart& chart) {
  constexpr double kAbove = 0.06, kBelowLowest = 0.7;
  Extent extent = bar_extent(chart);
  if (extent.is_empty()) return {extent, chart.y.scale};
  if (chart.y.scale == AxisScale::Log)
    return {{extent.low * kBelowLowest, extent.high * 1.2}, AxisScale::Log};
  extent.add(0);
  if (extent.low == extent.high) extent.high = 1;  // only zeros
  const double range = extent.high - extent.low;
  if (extent.high > 0) extent.high += kAbove * range;
  if (extent.low < 0) extent.low -= kAbove * range;
  return {extent, AxisScale::Linear};
}

Axis value_axis(const BarChart& chart) {
  if (chart.marks == BarMarks::Bars) return bar_axis(chart);
  Axis axis(bar_extent(chart), chart.y.scale);
  axis.pad(0.06);
  return axis;
}

SeriesStyle dot_number(size_t index) {
  SeriesStyle style = style_number(index);
  style.width = 0;
  return style;
}

size_t off_axis_values(const BarChart& chart) {
  size_t count = 0;
  for (const BarGroup& group : chart.groups)
    count += static_cast<size_t>(std::ranges::count_if(
        group.values, [&](double value) { return std::isfinite(value) && !is_on(chart.y.scale, value); }));
  return count;
}

void draw_bar(Canvas& canvas, const Box& slot, Extent heights, const FillStyle& style) {
  constexpr double kBetween = 0.08;  // of the slot's width
  const double gap = slot.width * kBetween;
  draw_filled(canvas, {slot.left + gap / 2, heights.low, slot.width - gap, heights.high - heights.low},
              style);
}

void draw_interval(Canvas& canvas, const Box& slot, double top, double bottom) {
  constexpr double kWidestCap = 9;
  const double middle = slot.left + slot.width / 2, half = std::min(kWidestCap, 0.6 * slot.width) / 2;
  const Segment lines[] = {{{middle, top}, {middle, bottom}},
                           {{middle - half, top}, {middle + half, top}},
                           {{middle - half, bottom}, {middle + half, bottom}}};
  canvas.segments(lines, {.color = kInk, .width = 1.1});
}

class BarPainter {
 public:
  BarPainter(Canvas& canvas, const BarChart& chart, const CategoryFrame& frame)
      : canvas_(canvas), chart_(chart), frame_(frame) {
    const bool on_zero = chart.marks == BarMarks::Bars && chart.y.scale == AxisScale::Linear;
    base_ = on_zero ? frame.upwards(0) : frame.area().bottom();
  }

  void draw() {
    for (size_t group = 0; group < chart_.groups.size(); ++group)
      for (size_t i = 0; i < chart_.groups[group].values.size(); ++i) draw(group, i);
    const Point ground[] = {{frame_.area().left, base_}, {frame_.area().right(), base_}};
    canvas_.line(ground, {.color = kInk, .width = 0.8});
  }

 private:
  void draw(size_t index, size_t category) {
    const BarGroup& group = chart_.groups[index];
    const double value = group.values[category];
    const Box slot = frame_.slot(category, index);
    const bool has_mark = is_on(chart_.y.scale, value);
    if (has_mark && chart_.marks == BarMarks::Bars) draw_standing(slot, value, fill_number(index));
    // Also where there is no mean of them.
    if (!group.points.empty()) draw_points(slot, group.points[category]);
    if (!has_mark) return;
    if (!group.low.empty()) draw_interval_of(slot, group.low[category], group.high[category]);
    if (chart_.marks == BarMarks::Dots) draw_dot(slot, value, dot_number(index));
  }

  void draw_standing(const Box& slot, double value, const FillStyle& style) {
    Extent heights;
    heights.add(base_);
    heights.add(frame_.upwards(value));
    draw_bar(canvas_, slot, heights, style);
  }

  void draw_dot(const Box& slot, double value, SeriesStyle style) {
    style.radius = std::min(style.radius, slot.width / 4);
    draw_marker(canvas_, {slot.left + slot.width / 2, frame_.upwards(value)}, style);
  }

  // One that reaches down to what a logarithmic axis cannot show ends where the axis does.
  void draw_interval_of(const Box& slot, double low, double high) {
    if (!std::isfinite(low) || !is_on(chart_.y.scale, high)) return;
    draw_interval(canvas_, slot, frame_.upwards(high),
                  is_on(chart_.y.scale, low) ? frame_.upwards(low) : frame_.area().bottom());
  }

  // Left of the middle, where the interval's line is, and one beside the other as they come, so that equal
  // values are seen to be several.
  void draw_points(const Box& slot, const std::vector<double>& points) {
    constexpr double kRadius = 1.8, kFrom = 0.14;  // of the slot's width
    const double last =
        chart_.marks == BarMarks::Bars ? 0.40 : 0.30;  // a dot is wider than an interval's line
    const double step = (last - kFrom) / static_cast<double>(std::max<size_t>(points.size(), 2) - 1);
    for (size_t i = 0; i < points.size(); ++i)
      if (is_on(chart_.y.scale, points[i]))
        canvas_.disc(
            {slot.left + slot.width * (kFrom + step * static_cast<double>(i)), frame_.upwards(points[i])},
            std::min(kRadius, slot.width / 12), kInk);
  }

  Canvas& canvas_;
  const BarChart& chart_;
  const CategoryFrame& frame_;
  double base_ = 0;
};

LegendEntry legend_entry(const BarChart& chart, size_t group) {
  const std::string& name = chart.groups[group].name;
  if (chart.marks == BarMarks::Dots) return {.name = name, .style = dot_number(group)};
  return {.name = name, .fill = fill_number(group)};
}

Heading bar_heading(const BarChart& chart) {
  Heading heading{.title = chart.title, .note = off_axis_note(off_axis_values(chart))};
  if (chart.legend == LegendPlace::None) return heading;
  for (size_t i = 0; i < chart.groups.size(); ++i)
    if (!chart.groups[i].name.empty()) heading.legend.push_back(legend_entry(chart, i));
  return heading;
}

void check_group(const BarGroup& group, size_t categories) {
  SLUICE_ASSERT(group.values.size() == categories, "bar chart: {} has {} values for {} categories",
                group.name, group.values.size(), categories);
  SLUICE_ASSERT(group.low.size() == group.high.size(), "bar chart: half of the intervals of {}", group.name);
  SLUICE_ASSERT(group.low.empty() || group.low.size() == categories,
                "bar chart: {} has {} intervals for {} categories", group.name, group.low.size(), categories);
  SLUICE_ASSERT(group.points.empty() || group.points.size() == categories,
                "bar chart: {} has points for {} of {} categories", group.name, group.points.size(),
                categories);
}

}  // namespace

void draw_bar_chart(Canvas& canvas, const Box& box, const BarChart& chart) {
  const size_t categories = category_count(chart);
  for (const BarGroup& group : chart.groups) check_group(group, categories);
  const Box room = draw_heading(canvas, box, bar_heading(chart));
  if (categories == 0 || bar_extent(chart).is_empty()) return draw_emptiness(canvas, room, chart.empty);
  const CategoryFrame frame(room,
                            {chart.x, categories, chart.groups.size(), value_axis(chart), chart.y.label});
  frame.draw_axes(canvas);
  draw_levels(canvas, frame.area(), frame.y(), chart.y.levels);
  BarPainter(canvas, chart, frame).draw();
  draw_edges(canvas, frame.area());
}

Panel panel_of(BarChart chart) {
  constexpr double kAreaHeight = 250, kNamesHeight = 60;
  const double width = category_chart_width(category_count(chart), std::max<size_t>(chart.groups.size(), 1));
  std::string title = chart.title.empty() ? "Bar chart" : chart.title;
  return {.width = width,
          .height = kAreaHeight + kNamesHeight + heading_height(bar_heading(chart), width),
          .title = std::move(title),
          .draw = [chart = std::move(chart)](Canvas& canvas, const Box& box) {
            draw_bar_chart(canvas, box, chart);
          }};
}

}  // namespace sluice
