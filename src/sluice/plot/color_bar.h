// What the colours of a chart mean: from values to colours, and the bar that says so.
#pragma once

#include <span>
#include <string>

#include "sluice/plot/axis.h"
#include "sluice/plot/color_map.h"

namespace sluice {

struct ColorScale {
  std::string label = {};  // with its unit; empty: none
  ColorMap map = ColorMap::Sequential;
  AxisScale scale = AxisScale::Linear;
  // Empty: that of the values; on a logarithmic scale both ends are positive. Values outside have the colour
  // of the nearest end, and the bar an arrow there.
  Extent extent = {};
  double centre = 0;  // of a diverging map, which reaches equally far to both sides of it
};

// A logarithmic scale without a given extent ends this far below its highest value.
inline constexpr double kColorDecades = 6;

class ColorAxis {
 public:
  ColorAxis(const ColorScale& scale, std::span<const double> values);

  // What is not finite has no colour. On a logarithmic scale what is not positive has the lowest.
  static bool has_color(double value);
  int level(double value) const;  // from 0 to kColorLevels - 1
  Color color(double value) const;

  const ColorScale& scale() const { return scale_; }
  const Axis& axis() const { return axis_; }
  const Extent& extent() const { return extent_; }  // empty if there was no value
  bool cuts_low() const { return cuts_low_; }
  bool cuts_high() const { return cuts_high_; }

 private:
  ColorScale scale_;
  Extent extent_;
  Axis axis_;
  bool cuts_low_ = false, cuts_high_ = false;
};

Color level_color(ColorMap map, int level);

// A dash in the corner of a cell: the colours below and above the centre of a diverging map look the same in
// grey.
void mark_below_centre(Canvas& canvas, const Box& cell, Color background);

// Upright, as high as the box, from its left edge.
double color_bar_width(const ColorAxis& axis, double height);
void draw_color_bar(Canvas& canvas, const Box& box, const ColorAxis& axis);

}  // namespace sluice
