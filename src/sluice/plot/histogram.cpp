#include "sluice/plot/histogram.h"

#include <algorithm>

#include "sluice/plot/chart_style.h"
#include "sluice/plot/fill_style.h"
#include "sluice/plot/series.h"

namespace sluice {
namespace {

const SeriesStyle kDensityStyle{.color = {0, 0, 0}, .width = 1.7};

SeriesStyle mark_style(size_t index) {
  static const std::vector<double> kMarkDashes[] = {{5, 3}, {1.5, 2}, {8, 2, 2, 2}, {12, 3}, {3, 6}};
  return {.color = style_number(index + 1).color,
          .width = 1.6,
          .dashes = kMarkDashes[index % std::size(kMarkDashes)]};
}

Heading histogram_heading(const Histogram& histogram) {
  Heading heading{.title = histogram.title};
  if (histogram.line == DensityLine::Smoothed)
    heading.legend.push_back({.name = "smoothed", .style = kDensityStyle});
  for (size_t i = 0; i < histogram.marks.size(); ++i)
    if (!histogram.marks[i].name.empty())
      heading.legend.push_back({.name = histogram.marks[i].name, .style = mark_style(i)});
  return heading;
}

Axis density_axis(const Histogram& histogram) {
  constexpr double kTopMargin = 1.06, kBelowLowest = 0.7;
  Extent extent = extent_on(histogram.y, densities(histogram.bins));
  if (histogram.line == DensityLine::Smoothed)
    for (const Point& point : smoothed_density(histogram.bins)) {
      // Its tails would stretch a logarithmic axis over hundreds of decades.
      if (histogram.y.scale == AxisScale::Linear || point.y > extent.low) extent.add(point.y);
    }
  if (histogram.y.scale == AxisScale::Log)
    return {{extent.low * kBelowLowest, extent.high * kTopMargin}, AxisScale::Log};
  extent.add(0);
  return {{extent.low, extent.high * kTopMargin}, AxisScale::Linear};
}

ChartFrame histogram_frame(const Box& room, const Histogram& histogram) {
  Axis x(extent_on(histogram.x, histogram.bins.edges), histogram.x.scale);
  x.pad(0.01);
  return frame_in(room, {x, density_axis(histogram), histogram.x.label, histogram.y.label});
}

void draw_bins(Canvas& canvas, const ChartFrame& frame, const Histogram& histogram) {
  const std::vector<double> heights = densities(histogram.bins);
  const Color color = fill_number(0).color;
  for (size_t i = 0; i < heights.size(); ++i) {
    const double low = histogram.bins.edges[i], high = histogram.bins.edges[i + 1];
    if (heights[i] <= 0 || !frame.has_place_for(low, heights[i])) continue;
    const double top = frame.upwards(heights[i]);
    const Box bar{frame.across(low), top, frame.across(high) - frame.across(low), frame.area.bottom() - top};
    canvas.rectangle(bar, paler(color, 0.62));
    const Point outline[] = {
        {bar.left, bar.bottom()}, {bar.left, bar.top}, {bar.right(), bar.top}, {bar.right(), bar.bottom()}};
    canvas.line(outline, {.color = color, .width = 0.6});
  }
}

void draw_density(Canvas& canvas, const ChartFrame& frame, const Histogram& histogram) {
  const Clip clip(canvas, frame.area);
  std::vector<Point> line;
  for (const Point& point : smoothed_density(histogram.bins)) {
    if (!frame.has_place_for(point.x, point.y)) continue;
    // Below the lower end of a logarithmic axis, deep is as good as deeper.
    const double y = std::min(frame.upwards(point.y), frame.area.bottom() + 5);
    line.push_back({frame.across(point.x), y});
  }
  if (line.size() > 1) canvas.line(line, {.color = kDensityStyle.color, .width = kDensityStyle.width});
}

void draw_marks(Canvas& canvas, const ChartFrame& frame, const std::vector<ReferenceLine>& marks) {
  for (size_t i = 0; i < marks.size(); ++i) {
    if (!frame.x.has_place_for(marks[i].value)) continue;
    const double x = frame.across(marks[i].value);
    if (x < frame.area.left || x > frame.area.right()) continue;
    const SeriesStyle style = mark_style(i);
    const Point line[] = {{x, frame.area.top}, {x, frame.area.bottom()}};
    canvas.line(line, {.color = style.color, .width = style.width, .dashes = style.dashes});
  }
}

}  // namespace

void draw_histogram(Canvas& canvas, const Box& box, const Histogram& histogram) {
  const Box room = draw_heading(canvas, box, histogram_heading(histogram));
  if (histogram.bins.total() == 0) return draw_emptiness(canvas, room, histogram.empty);
  const ChartFrame frame = histogram_frame(room, histogram);
  draw_axes(canvas, frame);
  draw_bins(canvas, frame, histogram);
  if (histogram.line == DensityLine::Smoothed) draw_density(canvas, frame, histogram);
  draw_marks(canvas, frame, histogram.marks);
  draw_edges(canvas, frame.area);
}

Panel panel_of(Histogram histogram) {
  constexpr double kNaturalWidth = 460, kNaturalHeight = 260;
  const double heading = heading_height(histogram_heading(histogram), kNaturalWidth);
  std::string title = histogram.title.empty() ? "Histogram" : histogram.title;
  return {.width = kNaturalWidth,
          .height = kNaturalHeight + heading,
          .title = std::move(title),
          .draw = [histogram = std::move(histogram)](Canvas& canvas, const Box& box) {
            draw_histogram(canvas, box, histogram);
          }};
}

}  // namespace sluice
