#include "sluice/plot/category_frame.h"

#include <algorithm>

namespace sluice {
namespace {

constexpr double kFilled = 0.8;     // of a category; the rest separates it from the next
constexpr double kWidestSlot = 48;  // a bar wider than this is a wall
constexpr double kRightOfLast = 4, kSmallestArea = 4;

// Something is left of the area, whatever the box.
double area_width(const Box& room, double left) {
  return std::max(room.width - left - kRightOfLast, kSmallestArea);
}

CategoryLabels labels_of(const CategoryChart& chart, double width) {
  const double count = static_cast<double>(std::max<size_t>(chart.categories, 1));
  return {chart.x, chart.categories, CategoryLabels::Side::Below, width / count};
}

}  // namespace

CategoryFrame::CategoryFrame(const Box& room, CategoryChart chart) : chart_(std::move(chart)), room_(room) {
  // Names take height and the labels of values width, and how much of one depends on the other. Taking the
  // larger each time, this settles after a turn or two.
  double left = 0, below = 0;
  for (int turn = 0; turn < 3; ++turn) {
    left = std::max(left, y_axis_width(chart_.y, chart_.y_label, room.height - below));
    below = std::max(below, labels_of(chart_, area_width(room, left)).room());
  }
  area_ = {room.left + left, room.top, area_width(room, left), std::max(room.height - below, kSmallestArea)};
}

Box CategoryFrame::slot(size_t category, size_t group) const {
  const double pitch = area_.width / static_cast<double>(chart_.categories);
  const double groups = static_cast<double>(chart_.groups);
  const double width = std::min(kFilled * pitch / groups, kWidestSlot);
  const double left = area_.left + (static_cast<double>(category) + 0.5) * pitch -
                      width * (groups / 2 - static_cast<double>(group));
  return {left, area_.top, width, area_.height};
}

void CategoryFrame::draw_axes(Canvas& canvas) const {
  draw_y_axis(canvas, {room_, area_, chart_.y, chart_.y_label});
  labels_of(chart_, area_.width).draw(canvas, area_, room_);
}

double category_chart_width(size_t categories, size_t groups) {
  constexpr double kNarrowest = 360, kWidest = 760, kPerSlot = 14, kAroundSlots = 10, kAxes = 60;
  const double slots =
      static_cast<double>(categories) * (static_cast<double>(groups) * kPerSlot + kAroundSlots);
  return std::clamp(slots + kAxes, kNarrowest, kWidest);
}

}  // namespace sluice
