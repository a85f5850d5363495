#include "sluice/plot/scatter.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "sluice/base/assert.h"
#include "sluice/plot/chart_style.h"
#include "sluice/plot/text_width.h"

namespace sluice {
namespace {

constexpr double kMarginal = 38, kBeforeMarginal = 6;
constexpr size_t kMarginalBins = 30;
const SeriesStyle kFitStyle{.color = {0, 0, 0}, .width = 1.4, .dashes = {7, 3}};

struct NamedPoint {
  Point at;
  std::string label;
};

std::vector<NamedPoint> points_of(const ChartFrame& frame, const ScatterGroup& group) {
  std::vector<NamedPoint> points;
  for (size_t i = 0; i < group.x.size(); ++i)
    if (frame.has_place_for(group.x[i], group.y[i]))
      points.push_back({frame.place(group.x[i], group.y[i]), group.labels.empty() ? "" : group.labels[i]});
  return points;
}

struct ScatterCount {
  size_t shown = 0, off_axis = 0;
};

ScatterCount count_points(const Scatter& scatter) {
  ScatterCount count;
  for (const ScatterGroup& group : scatter.groups) {
    for (size_t i = 0; i < group.x.size(); ++i) {
      if (!std::isfinite(group.x[i]) || !std::isfinite(group.y[i])) continue;
      is_on(scatter.x.scale, group.x[i]) && is_on(scatter.y.scale, group.y[i]) ? ++count.shown
                                                                               : ++count.off_axis;
    }
  }
  return count;
}

// Few are large, thousands are dots.
SeriesStyle point_style(size_t group, size_t points) {
  SeriesStyle style = style_number(group);
  style.width = 0;
  style.radius = points <= 100 ? 3.2 : points <= 1000 ? 2.2 : 1.3;
  style.color.opacity = points <= 100 ? 0.9 : 0.6;
  return style;
}

Heading scatter_heading(const Scatter& scatter) {
  const ScatterCount count = count_points(scatter);
  Heading heading{.title = scatter.title, .note = off_axis_note(count.off_axis)};
  if (scatter.legend == LegendPlace::None) return heading;
  for (size_t i = 0; i < scatter.groups.size(); ++i) {
    SeriesStyle style = point_style(i, 1);
    if (!scatter.groups[i].name.empty())
      heading.legend.push_back({.name = scatter.groups[i].name, .style = style});
  }
  if (scatter.fit && !scatter.fit->name.empty())
    heading.legend.push_back({.name = scatter.fit->name, .style = kFitStyle});
  return heading;
}

// A point counts for both axes or for none.
ChartAxes scatter_axes(const Scatter& scatter) {
  Extent across = extent_on(scatter.x, {}), upwards = extent_on(scatter.y, {});
  for (const ScatterGroup& group : scatter.groups) {
    for (size_t i = 0; i < group.x.size(); ++i) {
      if (!is_on(scatter.x.scale, group.x[i]) || !is_on(scatter.y.scale, group.y[i])) continue;
      across.add(group.x[i]);
      upwards.add(group.y[i]);
      for (const double end : {group.across.empty() ? group.x[i] : group.across[i].low,
                               group.across.empty() ? group.x[i] : group.across[i].high})
        if (is_on(scatter.x.scale, end)) across.add(end);
      for (const double end : {group.upwards.empty() ? group.y[i] : group.upwards[i].low,
                               group.upwards.empty() ? group.y[i] : group.upwards[i].high})
        if (is_on(scatter.y.scale, end)) upwards.add(end);
    }
  }
  Axis x(across, scatter.x.scale, scatter.x.ticks), y(upwards, scatter.y.scale, scatter.y.ticks);
  x.pad(0.04);
  y.pad(0.05);
  return {x, y, scatter.x.label, scatter.y.label};
}

// Of points that would cover each other one is enough: a file of a million has no more than the page has
// dots.
void draw_points(Canvas& canvas, const std::vector<NamedPoint>& points, const SeriesStyle& style) {
  constexpr double kDot = 0.5;
  std::set<std::pair<int64_t, int64_t>> taken;
  for (const NamedPoint& point : points)
    if (taken.emplace(std::llround(point.at.x / kDot), std::llround(point.at.y / kDot)).second)
      draw_marker(canvas, point.at, style);
}

// Thin lines behind the points.
void draw_intervals(Canvas& canvas, const ChartFrame& frame, const ScatterGroup& group, Color color) {
  const auto draw = [&](const Point& from, const Point& to) {
    const Point ends[] = {from, to};
    canvas.line(ends, {.color = with_opacity(color, 0.6), .width = 0.9});
  };
  for (size_t i = 0; i < group.x.size(); ++i) {
    const double x = group.x[i], y = group.y[i];
    if (!frame.has_place_for(x, y)) continue;
    if (!group.across.empty())
      if (const Extent& of = group.across[i];
          frame.has_place_for(of.low, y) && frame.has_place_for(of.high, y))
        draw(frame.place(of.low, y), frame.place(of.high, y));
    if (!group.upwards.empty())
      if (const Extent& of = group.upwards[i];
          frame.has_place_for(x, of.low) && frame.has_place_for(x, of.high))
        draw(frame.place(x, of.low), frame.place(x, of.high));
  }
}

bool overlap(const Box& a, const Box& b) {
  return a.left < b.right() && b.left < a.right() && a.top < b.bottom() && b.top < a.bottom();
}

bool is_inside(const Box& inner, const Box& outer) {
  return outer.contains({inner.left, inner.top}) && outer.contains({inner.right(), inner.bottom()});
}

// Places names beside their points where they are free; what finds no place is left out.
class PointNames {
 public:
  explicit PointNames(const Box& area) : area_(area) {}

  void draw(Canvas& canvas, const NamedPoint& point) {
    constexpr double kDistance = 5;
    const double width = text_width(point.label, kTickText), height = kTickText.size * kCapitals;
    const Point& at = point.at;
    for (const Point corner : {Point{at.x + kDistance, at.y - height / 2},
                               {at.x - kDistance - width, at.y - height / 2},
                               {at.x - width / 2, at.y - kDistance - height},
                               {at.x - width / 2, at.y + kDistance}}) {
      const Box box{corner.x, corner.y, width, height};
      if (!is_free(box)) continue;
      taken_.push_back({box.left - 2, box.top - 2, box.width + 4, box.height + 4});
      canvas.rectangle({box.left - 1, box.top - 1, box.width + 2, box.height + 2},
                       with_opacity(kPaper, 0.75));
      return canvas.text({box.left, box.bottom()}, point.label, kTickText);
    }
  }

 private:
  bool is_free(const Box& box) const {
    return is_inside(box, area_) &&
           std::ranges::none_of(taken_, [&](const Box& other) { return overlap(box, other); });
  }

  Box area_;
  std::vector<Box> taken_;
};

double on_scale(AxisScale scale, double value) {
  return scale == AxisScale::Log ? std::log10(value) : value;
}

double from_scale(AxisScale scale, double value) {
  return scale == AxisScale::Log ? std::pow(10, value) : value;
}

// Straight between its ends, whatever the scales; cut where it leaves the area.
void draw_fit(Canvas& canvas, const ChartFrame& frame, const Scatter& scatter) {
  Extent across;
  for (const ScatterGroup& group : scatter.groups) across = extent_on(scatter.x, group.x, across);
  const auto height = [&](double x) {
    const double y = scatter.fit->intercept + scatter.fit->slope * on_scale(scatter.x.scale, x);
    return frame.y.position(from_scale(scatter.y.scale, y));
  };
  const double first = height(across.low), last = height(across.high), rise = last - first;
  if (!std::isfinite(rise)) return;
  double begin = 0, end = 1;
  for (const double edge : {0.0, 1.0}) {
    if (rise == 0) continue;
    const double at = (edge - first) / rise;
    const bool enters = (edge == 0) == (rise > 0);
    enters ? begin = std::max(begin, at) : end = std::min(end, at);
  }
  if (begin >= end || (rise == 0 && (first < 0 || first > 1))) return;
  const double left = frame.across(across.low), width = frame.across(across.high) - left;
  const auto point = [&](double share) {
    return Point{left + share * width, frame.area.bottom() - (first + share * rise) * frame.area.height};
  };
  const Point line[] = {point(begin), point(end)};
  canvas.line(line, {.color = kFitStyle.color, .width = kFitStyle.width, .dashes = kFitStyle.dashes});
}

// Shares of the fullest bin.
std::vector<double> marginal(const std::vector<double>& positions) {
  std::vector<double> counts(kMarginalBins);
  for (const double position : positions)
    ++counts[std::min(static_cast<size_t>(std::max(position, 0.0) * kMarginalBins), kMarginalBins - 1)];
  const double most = *std::ranges::max_element(counts);
  for (double& count : counts) count /= std::max(most, 1.0);
  return counts;
}

void draw_marginals(Canvas& canvas, const ChartFrame& frame, const std::vector<NamedPoint>& points) {
  const Box& area = frame.area;
  std::vector<double> across, upwards;
  for (const NamedPoint& point : points) {
    across.push_back((point.at.x - area.left) / area.width);
    upwards.push_back((area.bottom() - point.at.y) / area.height);
  }
  const std::vector<double> above = marginal(across), beside = marginal(upwards);
  const double width = area.width / kMarginalBins, height = area.height / kMarginalBins;
  for (size_t i = 0; i < kMarginalBins; ++i) {
    const double place = static_cast<double>(i), high = above[i] * kMarginal, wide = beside[i] * kMarginal;
    constexpr Color kBinColor{150, 150, 150};
    if (high > 0)
      canvas.rectangle({area.left + place * width, area.top - kBeforeMarginal - high, width * 0.9, high},
                       kBinColor);
    if (wide > 0)
      canvas.rectangle(
          {area.right() + kBeforeMarginal, area.bottom() - (place + 0.95) * height, wide, height * 0.9},
          kBinColor);
  }
}

void check_scatter(const ScatterGroup& group) {
  SLUICE_ASSERT(group.x.size() == group.y.size(), "scatter: {} has {} x and {} y", group.name, group.x.size(),
                group.y.size());
  SLUICE_ASSERT(group.labels.empty() || group.labels.size() == group.x.size(),
                "scatter: {} has {} labels for {} points", group.name, group.labels.size(), group.x.size());
  for (const std::vector<Extent>* intervals : {&group.across, &group.upwards})
    SLUICE_ASSERT(intervals->empty() || intervals->size() == group.x.size(),
                  "scatter: {} has {} intervals for {} points", group.name, intervals->size(),
                  group.x.size());
}

void draw_content(Canvas& canvas, const ChartFrame& frame, const Scatter& scatter) {
  const size_t count = count_points(scatter).shown;
  std::vector<NamedPoint> all;
  for (size_t i = 0; i < scatter.groups.size(); ++i) {
    const std::vector<NamedPoint> points = points_of(frame, scatter.groups[i]);
    draw_intervals(canvas, frame, scatter.groups[i], point_style(i, count).color);
    draw_points(canvas, points, point_style(i, count));
    all.insert(all.end(), points.begin(), points.end());
  }
  if (scatter.fit) draw_fit(canvas, frame, scatter);
  if (scatter.marginals == Marginals::Both) draw_marginals(canvas, frame, all);
  PointNames names(frame.area);
  for (const NamedPoint& point : all)
    if (!point.label.empty()) names.draw(canvas, point);
}

}  // namespace

void draw_scatter(Canvas& canvas, const Box& box, const Scatter& scatter) {
  for (const ScatterGroup& group : scatter.groups) check_scatter(group);
  Box room = draw_heading(canvas, box, scatter_heading(scatter));
  if (count_points(scatter).shown == 0) return draw_emptiness(canvas, room, scatter.empty);
  if (scatter.marginals == Marginals::Both) {
    taken_from_top(room, kMarginal + kBeforeMarginal);
    room.width -= kMarginal + kBeforeMarginal;
  }
  const ChartFrame frame = frame_in(room, scatter_axes(scatter));
  draw_axes(canvas, frame);
  draw_content(canvas, frame, scatter);
  draw_edges(canvas, frame.area);
}

Panel panel_of(Scatter scatter) {
  constexpr double kNaturalWidth = 460, kNaturalHeight = 380;
  const double heading = heading_height(scatter_heading(scatter), kNaturalWidth);
  std::string title = scatter.title.empty() ? "Scatter" : scatter.title;
  return {.width = kNaturalWidth,
          .height = kNaturalHeight + heading,
          .title = std::move(title),
          .draw = [scatter = std::move(scatter)](Canvas& canvas, const Box& box) {
            draw_scatter(canvas, box, scatter);
          }};
}

}  // namespace sluice
