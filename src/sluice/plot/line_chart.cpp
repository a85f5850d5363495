#include "sluice/plot/line_chart.h"

#include <algorithm>
#include <cmath>

#include "sluice/base/assert.h"
#include "sluice/plot/thinning.h"

namespace sluice {
namespace {

constexpr double kBandOpacity = 0.18;
constexpr double kColumn = 0.5;  // points closer than this are one pixel of the PNG

Extent x_extent(const LineChart& chart) {
  Extent extent = extent_on(chart.x, {});
  for (const Series& each : chart.series) extent = extent_on(chart.x, each.x, extent);
  return extent;
}

Extent y_extent(const LineChart& chart) {
  Extent extent = extent_on(chart.y, {});
  for (const Series& each : chart.series)
    for (const auto* values : {&each.y, &each.low, &each.high}) extent = extent_on(chart.y, *values, extent);
  // Where something is cut off, the line is to be seen going there.
  if (extent.high > chart.y.at_most) extent = {std::min(extent.low, chart.y.at_most), chart.y.at_most};
  return extent;
}

ChartFrame line_frame(const Box& box, const LineChart& chart) {
  Axis x(x_extent(chart), chart.x.scale, chart.x.ticks), y(y_extent(chart), chart.y.scale, chart.y.ticks);
  x.pad(0.015);
  y.pad(0.05);
  return frame_in(box, {x, y, chart.x.label, chart.y.label});
}

bool is_cut_off(const ChartFrame& frame, const Point& point) {
  return point.y < frame.area.top;
}

Point place(const ChartFrame& frame, double at, double value) {
  // Far outside a line is as good as farther, and drawing libraries count in small numbers.
  constexpr double kFar = 3;
  const double height = std::min(frame.y.position(value), kFar);
  return {frame.across(at), frame.area.bottom() - height * frame.area.height};
}

// Stretches without a gap, as points of the figure.
std::vector<std::vector<Point>> stretches(const ChartFrame& frame, const Series& series,
                                          const std::vector<double>& values) {
  std::vector<std::vector<Point>> result;
  bool goes_on = false;
  for (size_t i = 0; i < values.size(); ++i) {
    const bool is_there = frame.has_place_for(series.x[i], values[i]);
    if (is_there && !goes_on) result.emplace_back();
    if (is_there) result.back().push_back(place(frame, series.x[i], values[i]));
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

// The band around one point alone would have no width.
void draw_whisker(Canvas& canvas, Point top, Point bottom, Color color) {
  constexpr double kHalfCap = 4;
  const Segment lines[] = {{top, bottom},
                           {{top.x - kHalfCap, top.y}, {top.x + kHalfCap, top.y}},
                           {{bottom.x - kHalfCap, bottom.y}, {bottom.x + kHalfCap, bottom.y}}};
  canvas.segments(lines, {.color = color, .width = 1});
}

// Where one of the bounds is missing, there is no band. One that reaches down to what a logarithmic axis
// cannot show ends where the axis does.
void draw_band(Canvas& canvas, const ChartFrame& frame, const Series& series) {
  if (series.low.empty()) return;
  std::vector<double> low = series.low, high = series.high;
  for (double& bound : low)
    if (std::isfinite(bound) && !frame.y.has_place_for(bound)) bound = frame.y.lowest();
  for (size_t i = 0; i < low.size(); ++i)
    if (!frame.y.has_place_for(low[i]) || !frame.y.has_place_for(high[i])) low[i] = high[i] = std::nan("");
  const auto lower = stretches(frame, series, low), upper = stretches(frame, series, high);
  for (size_t i = 0; i < lower.size(); ++i) {
    if (lower[i].size() == 1) draw_whisker(canvas, upper[i][0], lower[i][0], series.style.color);
    std::vector<Point> around = upper[i];
    around.insert(around.end(), lower[i].rbegin(), lower[i].rend());
    canvas.polygon(around, with_opacity(series.style.color, kBandOpacity));
  }
}

// Where the line leaves for the first time; it may come back and leave often.
void draw_cut(Canvas& canvas, const ChartFrame& frame, const std::vector<std::vector<Point>>& drawn,
              Color color) {
  constexpr double kHalf = 4, kHeight = 6;
  for (const auto& points : drawn) {
    const auto first = std::ranges::find_if(points, [&](const Point& at) { return is_cut_off(frame, at); });
    if (first == points.end()) continue;
    const double base = frame.area.top + kHeight;
    const Point corners[] = {{first->x, frame.area.top}, {first->x + kHalf, base}, {first->x - kHalf, base}};
    return canvas.polygon(corners, color);
  }
}

void draw_series(Canvas& canvas, const ChartFrame& frame, const Series& series) {
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
      if (!is_cut_off(frame, point)) draw_marker(canvas, point, series.style);
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

Heading line_heading(const LineChart& chart) {
  Heading heading{.title = chart.title};
  if (chart.legend == LegendPlace::Above) heading.legend = legend_of(chart.series);
  return heading;
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
  const ChartFrame frame = line_frame(draw_heading(canvas, box, line_heading(chart)), chart);
  if (is_empty(chart)) return draw_emptiness(canvas, frame.area, chart.empty);
  draw_axes(canvas, frame);
  draw_levels(canvas, frame.area, frame.y, chart.y.levels);
  for (const Series& series : chart.series) draw_series(canvas, frame, series);
  draw_edges(canvas, frame.area);
}

Panel panel_of(LineChart chart) {
  std::string title = chart.title.empty() ? "Line chart" : chart.title;
  constexpr double kNaturalWidth = 560, kNaturalHeight = 270;
  const double heading = heading_height(line_heading(chart), kNaturalWidth);
  return {.width = kNaturalWidth,
          .height = kNaturalHeight + heading,
          .title = std::move(title),
          .draw = [chart = std::move(chart)](Canvas& canvas, const Box& box) {
            draw_line_chart(canvas, box, chart);
          }};
}

}  // namespace sluice
