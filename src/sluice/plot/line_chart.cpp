#include "sluice/plot/line_chart.h"

#include <algorithm>
#include <cmath>

#include "sluice/base/assert.h"
#include "sluice/plot/text_width.h"
#include "sluice/plot/thinning.h"

namespace sluice {
namespace {

constexpr Color kInk{51, 51, 51}, kGrid{226, 226, 226}, kQuiet{110, 110, 110};
constexpr double kTitleHeight = 20, kLabelHeight = 16, kTickLength = 4;
constexpr double kRightMargin = 6;      // at least: a marker at the end
constexpr double kRowsPerTick = 30;     // units of height that a tick of the y axis wants
constexpr double kNarrowestLabel = 40;  // of the x axis, with the space around it
constexpr int kMostTicks = 8;
constexpr double kBandOpacity = 0.18;
constexpr double kColumn = 0.5;  // points closer than this are one pixel of the PNG
const TextStyle kTickText{.size = 10, .color = kInk};
const TextStyle kLabelText{.size = 11, .color = kInk};

Extent extent_of(const std::vector<double>& values, AxisScale scale, Extent extent) {
  for (const double value : values)
    if (is_on(scale, value)) extent.add(value);
  return extent;
}

Extent x_extent(const LineChart& chart) {
  Extent extent = chart.x.at_least;
  for (const Series& each : chart.series) extent = extent_of(each.x, chart.x.scale, extent);
  return extent;
}

Extent y_extent(const LineChart& chart) {
  Extent extent = chart.y.at_least;
  for (const Series& each : chart.series)
    for (const auto* values : {&each.y, &each.low, &each.high})
      extent = extent_of(*values, chart.y.scale, extent);
  // Where something is cut off, the line is to be seen going there.
  if (extent.high > chart.y.at_most) extent = {std::min(extent.low, chart.y.at_most), chart.y.at_most};
  return extent;
}

// The area inside the axes, and where values lie in it.
struct Frame {
  Box area;
  Axis x, y;

  bool has_place_for(double at, double value) const { return x.has_place_for(at) && y.has_place_for(value); }
  Point place(double at, double value) const {
    // Far outside a line is as good as farther, and drawing libraries count in small numbers.
    constexpr double kFar = 3;
    const double height = std::min(y.position(value), kFar);
    return {area.left + x.position(at) * area.width, area.bottom() - height * area.height};
  }
  bool is_cut_off(const Point& point) const { return point.y < area.top; }
};

double widest(const std::vector<Tick>& ticks) {
  double width = 0;
  for (const Tick& tick : ticks) width = std::max(width, text_width(tick.label, kTickText));
  return width;
}

std::vector<Tick> y_ticks(const Axis& axis, double height) {
  const int most = std::max(2, static_cast<int>(height / kRowsPerTick));
  std::vector<Tick> ticks = axis.ticks(most);
  // One round value alone says nothing of the scale: then a few more than there is much room for.
  for (int more = most + 1; ticks.size() < 2 && more <= 2 * most; ++more) ticks = axis.ticks(more);
  return ticks;
}

// As many as fit beside each other.
std::vector<Tick> x_ticks(const Axis& axis, double width) {
  const auto fits = [&](const std::vector<Tick>& ticks) {
    constexpr double kSpace = 9;
    for (size_t i = 1; i < ticks.size(); ++i) {
      const double apart = (axis.position(ticks[i].value) - axis.position(ticks[i - 1].value)) * width;
      const double half_widths =
          (text_width(ticks[i].label, kTickText) + text_width(ticks[i - 1].label, kTickText)) / 2;
      if (apart < half_widths + kSpace) return false;
    }
    return true;
  };
  return axis.ticks(std::clamp(static_cast<int>(width / kNarrowestLabel), 2, kMostTicks), fits);
}

// What is left of the box when titles, labels and ticks have their room.
Frame frame_in(Box box, const LineChart& chart) {
  Axis x(x_extent(chart), chart.x.scale), y(y_extent(chart), chart.y.scale);
  x.pad(0.015);
  y.pad(0.05);
  box.height -= kLabelHeight + (chart.x.label.empty() ? 0 : kLabelHeight);
  // A label at either end of the x axis may stick out by half of its width.
  const double half_label = widest(x_ticks(x, box.width)) / 2 + 1;
  const double left = std::max(half_label, widest(y_ticks(y, box.height)) + kTickLength + 4 +
                                               (chart.y.label.empty() ? 0 : kLabelHeight));
  const double right = std::max(half_label, kRightMargin);
  return {{box.left + left, box.top, box.width - left - right, box.height}, x, y};
}

void draw_x_axis(Canvas& canvas, const Frame& frame, const ChartAxis& axis) {
  TextStyle style = kTickText;
  style.anchor = Anchor::Middle;
  const double bottom = frame.area.bottom();
  for (const Tick& tick : x_ticks(frame.x, frame.area.width)) {
    const double x = frame.area.left + frame.x.position(tick.value) * frame.area.width;
    const Point grid[] = {{x, frame.area.top}, {x, bottom}},
                mark[] = {{x, bottom}, {x, bottom + kTickLength}};
    canvas.line(grid, {.color = kGrid, .width = 0.7});
    canvas.line(mark, {.color = kInk, .width = 0.8});
    canvas.text({x, bottom + kTickLength + 10}, tick.label, style);
  }
  style = kLabelText;
  style.anchor = Anchor::Middle;
  if (!axis.label.empty())
    canvas.text({frame.area.left + frame.area.width / 2, bottom + 2 * kLabelHeight - 3}, axis.label, style);
}

void draw_y_axis(Canvas& canvas, const Frame& frame, const ChartAxis& axis, double label_left) {
  TextStyle style = kTickText;
  style.anchor = Anchor::End;
  const double left = frame.area.left;
  for (const Tick& tick : y_ticks(frame.y, frame.area.height)) {
    const double y = frame.area.bottom() - frame.y.position(tick.value) * frame.area.height;
    const Point grid[] = {{left, y}, {frame.area.right(), y}}, mark[] = {{left - kTickLength, y}, {left, y}};
    canvas.line(grid, {.color = kGrid, .width = 0.7});
    canvas.line(mark, {.color = kInk, .width = 0.8});
    canvas.text({left - kTickLength - 2, y + kTickText.size * 0.36}, tick.label, style);
  }
  style = {.size = kLabelText.size, .anchor = Anchor::Middle, .turn = Turn::Left, .color = kInk};
  if (!axis.label.empty())
    canvas.text({label_left + kLabelText.size, frame.area.top + frame.area.height / 2}, axis.label, style);
}

// Stretches without a gap, as points of the figure.
std::vector<std::vector<Point>> stretches(const Frame& frame, const Series& series,
                                          const std::vector<double>& values) {
  std::vector<std::vector<Point>> result;
  bool goes_on = false;
  for (size_t i = 0; i < values.size(); ++i) {
    const bool is_there = frame.has_place_for(series.x[i], values[i]);
    if (is_there && !goes_on) result.emplace_back();
    if (is_there) result.back().push_back(frame.place(series.x[i], values[i]));
    goes_on = is_there;
  }
  return result;
}

void draw_line(Canvas& canvas, const std::vector<Point>& points, const SeriesStyle& style) {
  if (style.width == 0) return;
  // A line of one point would not be seen.
  if (points.size() == 1) return canvas.disc(points.front(), std::max(style.width, 1.5), style.color);
  canvas.line(thinned(points, kColumn), {.color = style.color, .width = style.width, .dashes = style.dashes});
}

// Where one of the bounds is missing, there is no band.
void draw_band(Canvas& canvas, const Frame& frame, const Series& series) {
  if (series.low.empty()) return;
  std::vector<double> low = series.low, high = series.high;
  for (size_t i = 0; i < low.size(); ++i)
    if (!frame.y.has_place_for(low[i]) || !frame.y.has_place_for(high[i])) low[i] = high[i] = std::nan("");
  const auto lower = stretches(frame, series, low), upper = stretches(frame, series, high);
  for (size_t i = 0; i < lower.size(); ++i) {
    std::vector<Point> around = upper[i];
    around.insert(around.end(), lower[i].rbegin(), lower[i].rend());
    canvas.polygon(around, with_opacity(series.style.color, kBandOpacity));
  }
}

// Where the line leaves for the first time; it may come back and leave often.
void draw_cut(Canvas& canvas, const Frame& frame, const std::vector<std::vector<Point>>& drawn, Color color) {
  constexpr double kHalf = 4, kHeight = 6;
  for (const auto& points : drawn) {
    const auto first = std::ranges::find_if(points, [&](const Point& at) { return frame.is_cut_off(at); });
    if (first == points.end()) continue;
    const double base = frame.area.top + kHeight;
    const Point corners[] = {{first->x, frame.area.top}, {first->x + kHalf, base}, {first->x - kHalf, base}};
    return canvas.polygon(corners, color);
  }
}

void draw_series(Canvas& canvas, const Frame& frame, const Series& series) {
  const auto drawn = stretches(frame, series, series.y);
  {
    const Clip clip(canvas, frame.area);
    draw_band(canvas, frame, series);
    for (const auto& points : drawn) draw_line(canvas, points, series.style);
  }
  draw_cut(canvas, frame, drawn, series.style.color);
  // Not clipped: a marker at the edge is still whole.
  if (series.style.marker == Marker::None) return;
  for (const auto& points : drawn)
    for (const Point& point : points)
      if (!frame.is_cut_off(point)) draw_marker(canvas, point, series.style);
}

void draw_frame(Canvas& canvas, const Box& area) {
  const Point corner[] = {{area.left, area.top}, {area.left, area.bottom()}, {area.right(), area.bottom()}};
  canvas.line(corner, {.color = kInk, .width = 0.8});
}

bool is_empty(const LineChart& chart) {
  return std::ranges::none_of(chart.series, [&](const Series& each) {
    for (size_t i = 0; i < each.y.size(); ++i)
      if (is_on(chart.x.scale, each.x[i]) && is_on(chart.y.scale, each.y[i])) return true;
    return false;
  });
}

void check(const Series& series) {
  SLUICE_ASSERT(series.x.size() == series.y.size(), "line chart: {} has {} x and {} y", series.name,
                series.x.size(), series.y.size());
  SLUICE_ASSERT(series.low.size() == series.high.size(), "line chart: half a band around {}", series.name);
  SLUICE_ASSERT(series.low.empty() || series.low.size() == series.y.size(),
                "line chart: the band around {} is not as long as its line", series.name);
}

// Draws the title and the legend; gives what is left for the axes.
Box draw_heading(Canvas& canvas, Box box, const LineChart& chart) {
  const auto take = [&](double height) {
    box.top += height;
    box.height -= height;
  };
  if (!chart.title.empty()) {
    const TextStyle style{.size = 12, .weight = FontWeight::Bold, .color = kInk};
    canvas.text({box.left, box.top + 12}, fitted(chart.title, style, box.width), style);
    take(kTitleHeight);
  }
  if (chart.legend == LegendPlace::Above) {
    const std::vector<LegendEntry> entries = legend_of(chart.series);
    draw_legend(canvas, box, entries);
    take(legend_height(entries, box.width) + 4);
  }
  return box;
}

}  // namespace

std::vector<LegendEntry> legend_of(const std::vector<Series>& series) {
  std::vector<LegendEntry> entries;
  for (const Series& each : series)
    if (!each.name.empty()) entries.push_back({each.name, each.style});
  return entries;
}

void draw_line_chart(Canvas& canvas, const Box& box, const LineChart& chart) {
  for (const Series& series : chart.series) check(series);
  const Box inner = draw_heading(canvas, box, chart);
  const Frame frame = frame_in(inner, chart);
  if (is_empty(chart)) {
    draw_frame(canvas, frame.area);
    return canvas.text({frame.area.left + frame.area.width / 2, frame.area.top + frame.area.height / 2},
                       chart.empty, {.anchor = Anchor::Middle, .color = kQuiet});
  }
  draw_x_axis(canvas, frame, chart.x);
  draw_y_axis(canvas, frame, chart.y, inner.left);
  for (const Series& series : chart.series) draw_series(canvas, frame, series);
  draw_frame(canvas, frame.area);
}

}  // namespace sluice
