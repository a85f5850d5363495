// A named row of points in a chart, and how it is drawn.
#pragma once

#include <string>
#include <vector>

#include "sluice/plot/canvas.h"

namespace sluice {

enum class Marker { None, Disc, Square, Triangle, Diamond, Cross };

struct SeriesStyle {
  Color color = {};
  double width = 1.6;  // of the line; 0: markers only
  std::vector<double> dashes = {};
  Marker marker = Marker::None;
  double radius = 3.2;  // of the marker
};

// Told apart by colour, by dashes and by markers, so also in black and white and by the colour-blind; the
// first 140 differ.
SeriesStyle style_number(size_t index);

Color with_opacity(Color color, double opacity);

struct Series {
  std::string name;                    // empty: not in the legend
  std::vector<double> x = {}, y = {};  // as many of each; what is not finite is a gap
  SeriesStyle style = {};

  // A band around the line, as long as y or empty: an interval.
  std::vector<double> low = {}, high = {};
};

void draw_marker(Canvas& canvas, Point centre, const SeriesStyle& style);

}  // namespace sluice
