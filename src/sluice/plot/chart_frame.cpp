#include "sluice/plot/chart_frame.h"

#include <fmt/format.h>

#include <algorithm>

#include "sluice/plot/chart_style.h"
#include "sluice/plot/text_width.h"

namespace sluice {
namespace {

constexpr double kTitleRow = 16, kBelowTitle = 4, kNoteRow = 14;
constexpr double kHeadroom = 4;  // the label of a tick at the upper end sticks out by half of its height
constexpr size_t kMostTitleRows = 2;
constexpr double kRightMargin = 6;      // at least: a marker at the end
constexpr double kRowsPerTick = 30;     // units of height that a tick of the y axis wants
constexpr double kNarrowestLabel = 40;  // of the x axis, with the space around it
constexpr int kMostTicks = 8;

double widest(const std::vector<Tick>& ticks) {
  double width = 0;
  for (const Tick& tick : ticks) width = std::max(width, text_width(tick.label, kTickText));
  return width;
}

// As many as fit beside each other.
std::vector<Tick> x_ticks(const Axis& axis, double width) {
  const auto fits = [&](const std::vector<Tick>& ticks) {
    constexpr double kSpaceBetween = 9;
    for (size_t i = 1; i < ticks.size(); ++i) {
      const double apart = (axis.position(ticks[i].value) - axis.position(ticks[i - 1].value)) * width;
      const double half_widths =
          (text_width(ticks[i].label, kTickText) + text_width(ticks[i - 1].label, kTickText)) / 2;
      if (apart < half_widths + kSpaceBetween) return false;
    }
    return true;
  };
  return axis.ticks(std::clamp(static_cast<int>(width / kNarrowestLabel), 2, kMostTicks), fits);
}

std::vector<std::string> title_rows(const std::string& title, double width) {
  return first_lines(wrapped(title, kTitleText, width), kMostTitleRows, kTitleText, width);
}

void draw_tick(Canvas& canvas, std::span<const Point> grid, std::span<const Point> mark) {
  canvas.line(grid, {.color = kGrid, .width = 0.7});
  canvas.line(mark, {.color = kInk, .width = 0.8});
}

}  // namespace

Box taken_from_top(Box& box, double height) {
  const Box taken{box.left, box.top, box.width, height};
  box.top += height;
  box.height -= height;
  return taken;
}

double heading_height(const Heading& heading, double width) {
  const size_t rows = title_rows(heading.title, width).size();
  return (rows == 0 ? 0 : static_cast<double>(rows) * kTitleRow + kBelowTitle) +
         static_cast<double>(wrapped(heading.note, kNoteText, width).size()) * kNoteRow +
         legend_height(heading.legend, width) + kHeadroom;
}

Box draw_heading(Canvas& canvas, Box box, const Heading& heading) {
  const std::vector<std::string> rows = title_rows(heading.title, box.width);
  for (const std::string& row : rows)
    canvas.text({box.left, taken_from_top(box, kTitleRow).bottom() - 4}, row, kTitleText);
  if (!rows.empty()) taken_from_top(box, kBelowTitle);
  for (const std::string& row : wrapped(heading.note, kNoteText, box.width))
    canvas.text({box.left, taken_from_top(box, kNoteRow).bottom() - 5}, row, kNoteText);
  draw_legend(canvas, taken_from_top(box, legend_height(heading.legend, box.width)), heading.legend);
  taken_from_top(box, kHeadroom);
  return box;
}

std::string off_axis_note(size_t count) {
  if (count == 0) return "";
  return fmt::format("{} not positive and {} no place on a logarithmic axis",
                     count == 1 ? "1 value is" : fmt::format("{} values are", count),
                     count == 1 ? "has" : "have");
}

Extent extent_on(const ChartAxis& axis, const std::vector<double>& values, Extent extent) {
  for (const double value : {axis.at_least.low, axis.at_least.high})
    if (is_on(axis.scale, value)) extent.add(value);
  for (const LevelLine& level : axis.levels)
    if (is_on(axis.scale, level.value)) extent.add(level.value);
  for (const double value : values)
    if (is_on(axis.scale, value)) extent.add(value);
  return extent;
}

std::vector<Tick> y_ticks(const Axis& axis, double height) {
  const int most = std::max(2, static_cast<int>(height / kRowsPerTick));
  std::vector<Tick> ticks = axis.ticks(most);
  // One round value alone says nothing of the scale: then a few more than there is much room for.
  for (int more = most + 1; ticks.size() < 2 && more <= 2 * most; ++more) ticks = axis.ticks(more);
  return ticks;
}

double y_axis_width(const Axis& axis, const std::string& label, double height) {
  return widest(y_ticks(axis, height)) + kTickLength + 4 + (label.empty() ? 0 : kLabelHeight);
}

double x_axis_height(const std::string& label) {
  return label.empty() ? kLabelHeight : 2 * kLabelHeight;
}

ChartFrame frame_in(const Box& room, const ChartAxes& axes) {
  const double height = room.height - x_axis_height(axes.x_label);
  // A label at either end of the x axis may stick out by half of its width.
  const double half_label = widest(x_ticks(axes.x, room.width)) / 2 + 1;
  const double left = std::max(half_label, y_axis_width(axes.y, axes.y_label, height));
  const double right = std::max(half_label, kRightMargin);
  const Box area{room.left + left, room.top, room.width - left - right, height};
  return {room, area, axes.x, axes.y, axes.x_label, axes.y_label};
}

void draw_x_axis(Canvas& canvas, const ChartFrame& frame) {
  const Box& area = frame.area;
  for (const Tick& tick : x_ticks(frame.x, area.width)) {
    const double x = frame.across(tick.value);
    const Point grid[] = {{x, area.top}, {x, area.bottom()}};
    const Point mark[] = {{x, area.bottom()}, {x, area.bottom() + kTickLength}};
    draw_tick(canvas, grid, mark);
    canvas.text({x, area.bottom() + kTickLength + 10}, tick.label, anchored(kTickText, Anchor::Middle));
  }
  if (frame.x_label.empty()) return;
  canvas.text({area.left + area.width / 2, area.bottom() + 2 * kLabelHeight - 3},
              fitted(frame.x_label, kLabelText, area.width), anchored(kLabelText, Anchor::Middle));
}

void draw_y_axis(Canvas& canvas, const UprightAxis& upright) {
  const auto& [room, area, axis, label] = upright;
  for (const Tick& tick : y_ticks(axis, area.height)) {
    const double y = area.bottom() - axis.position(tick.value) * area.height;
    const Point grid[] = {{area.left, y}, {area.right(), y}};
    const Point mark[] = {{area.left - kTickLength, y}, {area.left, y}};
    draw_tick(canvas, grid, mark);
    canvas.text({area.left - kTickLength - 2, y + kTickText.size * kCapitals / 2}, tick.label,
                anchored(kTickText, Anchor::End));
  }
  if (label.empty()) return;
  canvas.text({room.left + kLabelText.size, area.top + area.height / 2},
              fitted(label, kLabelText, area.height), anchored(kLabelText, Anchor::Middle, Turn::Left));
}

void draw_axes(Canvas& canvas, const ChartFrame& frame) {
  draw_x_axis(canvas, frame);
  draw_y_axis(canvas, {frame.room, frame.area, frame.y, frame.y_label});
}

void draw_levels(Canvas& canvas, const Box& area, const Axis& axis, const std::vector<LevelLine>& levels) {
  for (const LevelLine& level : levels) {
    if (!axis.has_place_for(level.value)) continue;
    const double y = area.bottom() - axis.position(level.value) * area.height;
    const Point across[] = {{area.left, y}, {area.right(), y}};
    canvas.line(across, {.color = kQuiet, .width = 1.1, .dashes = level.dashes});
  }
}

void draw_edges(Canvas& canvas, const Box& area) {
  const Point corner[] = {{area.left, area.top}, {area.left, area.bottom()}, {area.right(), area.bottom()}};
  canvas.line(corner, {.color = kInk, .width = 0.8});
}

void draw_emptiness(Canvas& canvas, const Box& area, const std::string& words) {
  draw_edges(canvas, area);
  canvas.text({area.left + area.width / 2, area.top + area.height / 2}, fitted(words, kNoteText, area.width),
              anchored(kNoteText, Anchor::Middle));
}

}  // namespace sluice
