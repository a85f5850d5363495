#include "sluice/plot/color_bar.h"

#include <algorithm>
#include <cmath>

#include "sluice/plot/chart_frame.h"
#include "sluice/plot/chart_style.h"
#include "sluice/plot/text_width.h"

namespace sluice {
namespace {

constexpr double kBarThickness = 12, kArrow = 6;

Extent extent_of(const ColorScale& scale, std::span<const double> values) {
  if (!scale.extent.is_empty()) return scale.extent;
  Extent extent;
  for (const double value : values)
    if (is_on(scale.scale, value)) extent.add(value);
  if (scale.scale == AxisScale::Log && !extent.is_empty())
    extent.low = std::max(extent.low, extent.high * std::pow(10, -kColorDecades));
  return extent;
}

Extent around(double centre, const Extent& extent) {
  if (extent.is_empty()) return extent;
  const double reach = std::max(std::abs(extent.low - centre), std::abs(extent.high - centre));
  return {centre - reach, centre + reach};
}

Extent colored_extent(const ColorScale& scale, std::span<const double> values) {
  const Extent extent = extent_of(scale, values);
  return scale.map == ColorMap::Diverging ? around(scale.centre, extent) : extent;
}

double widest_label(const std::vector<Tick>& ticks) {
  double width = 0;
  for (const Tick& tick : ticks) width = std::max(width, text_width(tick.label, kTickText));
  return width;
}

IndexedImage levels_from_the_top(ColorMap map) {
  IndexedImage image{.width = 1, .height = kColorLevels};
  for (int level = kColorLevels - 1; level >= 0; --level) {
    image.pixels.push_back(static_cast<uint8_t>(image.palette.size()));
    image.palette.push_back(level_color(map, level));
  }
  return image;
}

void draw_outline(Canvas& canvas, const Box& box) {
  const Point around[] = {{box.left, box.top},
                          {box.right(), box.top},
                          {box.right(), box.bottom()},
                          {box.left, box.bottom()},
                          {box.left, box.top}};
  canvas.line(around, {.color = kInk, .width = 0.6});
}

// A label that is longer than the bar goes on in a second and a third line.
std::vector<std::string> bar_label(const std::string& label, double height) {
  return first_lines(wrapped(label, kLabelText, height), 3, kLabelText, height);
}

// From the bar to the first line of its label.
double ticks_width(const ColorAxis& axis, const Box& bar) {
  return kTickLength + 3 + widest_label(y_ticks(axis.axis(), bar.height)) + 2;
}

// What the arrows leave of the height.
Box bar_between_arrows(const Box& box, const ColorAxis& axis) {
  const double above = axis.cuts_high() ? kArrow : 0, below = axis.cuts_low() ? kArrow : 0;
  return {box.left, box.top + above, kBarThickness, box.height - above - below};
}

// Beyond an end there are values, too, in the colour of that end.
void draw_arrows(Canvas& canvas, const Box& bar, const ColorAxis& axis) {
  const double middle = bar.left + bar.width / 2;
  const Point up[] = {{bar.left, bar.top}, {middle, bar.top - kArrow}, {bar.right(), bar.top}};
  const Point down[] = {
      {bar.left, bar.bottom()}, {middle, bar.bottom() + kArrow}, {bar.right(), bar.bottom()}};
  if (axis.cuts_high()) {
    canvas.polygon(up, level_color(axis.scale().map, kColorLevels - 1));
    canvas.line(up, {.color = kInk, .width = 0.6});
  }
  if (axis.cuts_low()) {
    canvas.polygon(down, level_color(axis.scale().map, 0));
    canvas.line(down, {.color = kInk, .width = 0.6});
  }
}

}  // namespace

ColorAxis::ColorAxis(const ColorScale& scale, std::span<const double> values)
    : scale_(scale), extent_(colored_extent(scale, values)), axis_(extent_, scale.scale) {
  for (const double value : values) {
    if (!has_color(value) || extent_.is_empty()) continue;
    cuts_low_ |= value < extent_.low;
    cuts_high_ |= value > extent_.high;
  }
}

bool ColorAxis::has_color(double value) {
  return std::isfinite(value);
}

int ColorAxis::level(double value) const {
  if (!axis_.has_place_for(value)) return 0;
  const double share = std::clamp(axis_.position(value), 0.0, 1.0);
  return static_cast<int>(std::lround(share * (kColorLevels - 1)));
}

Color ColorAxis::color(double value) const {
  return level_color(scale_.map, level(value));
}

Color level_color(ColorMap map, int level) {
  return color_at(map, level / static_cast<double>(kColorLevels - 1));
}

void mark_below_centre(Canvas& canvas, const Box& cell, Color background) {
  constexpr double kFromCorner = 2.5, kLongest = 5;
  const double length = std::min(kLongest, cell.width - 2 * kFromCorner);
  if (length < 2 || cell.height < 2 * kFromCorner) return;
  const double y = cell.bottom() - kFromCorner;
  const Point dash[] = {{cell.left + kFromCorner, y}, {cell.left + kFromCorner + length, y}};
  canvas.line(dash, {.color = text_color_on(background), .width = 0.9});
}

double color_bar_width(const ColorAxis& axis, double height) {
  const double lines = static_cast<double>(bar_label(axis.scale().label, height).size());
  return kBarThickness + ticks_width(axis, bar_between_arrows({0, 0, 0, height}, axis)) +
         lines * kLabelHeight;
}

void draw_color_bar(Canvas& canvas, const Box& box, const ColorAxis& axis) {
  const Box bar = bar_between_arrows(box, axis);
  canvas.image(bar, levels_from_the_top(axis.scale().map));
  draw_outline(canvas, bar);
  draw_arrows(canvas, bar, axis);
  if (axis.scale().map == ColorMap::Diverging)
    mark_below_centre(canvas, {bar.left, bar.top, bar.width, bar.height * 0.875},
                      level_color(axis.scale().map, 32));
  for (const Tick& tick : y_ticks(axis.axis(), bar.height)) {
    const double y = bar.bottom() - axis.axis().position(tick.value) * bar.height;
    const Point mark[] = {{bar.right(), y}, {bar.right() + kTickLength, y}};
    canvas.line(mark, {.color = kInk, .width = 0.8});
    canvas.text({bar.right() + kTickLength + 3, y + kTickText.size * kCapitals / 2}, tick.label, kTickText);
  }
  double baseline = bar.right() + ticks_width(axis, bar) + kLabelText.size;
  for (const std::string& line : bar_label(axis.scale().label, box.height)) {
    canvas.text({baseline, box.top + box.height / 2}, line, anchored(kLabelText, Anchor::Middle, Turn::Left));
    baseline += kLabelHeight;
  }
}

}  // namespace sluice
