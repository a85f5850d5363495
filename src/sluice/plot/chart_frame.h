// What surrounds the data of a chart: heading, axes with ticks and labels. Every chart with axes uses it, so
// they look alike.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "sluice/plot/axis.h"
#include "sluice/plot/canvas.h"
#include "sluice/plot/legend.h"

namespace sluice {

// A value that others are to be compared with: dashes across the chart.
struct LevelLine {
  double value = 0;
  std::vector<double> dashes = {};
};

struct ChartAxis {
  std::string label = {};  // with its unit; empty: none
  AxisScale scale = AxisScale::Linear;
  TickValues ticks = TickValues::Any;
  Extent at_least = {};  // shown even if no value lies there: charts beside each other share an axis
  // Of the y axis of a line chart: what lies above is cut off and marked by a triangle at the edge, so that
  // one line that leaves does not flatten all others.
  double at_most = std::numeric_limits<double>::infinity();
  std::vector<LevelLine> levels = {};  // of the y axis of line and bar charts; always in view
};

enum class LegendPlace { None, Above };

// Takes a stripe off the top of a box, for what comes first.
Box taken_from_top(Box& box, double height);

struct Heading {
  std::string title = {};  // in two lines if it is long
  std::string note = {};   // a remark in small print: what could not be drawn
  std::vector<LegendEntry> legend = {};
};

// Draws what there is of it and gives what is left of the box.
Box draw_heading(Canvas& canvas, Box box, const Heading& heading);
double heading_height(const Heading& heading, double width);

// "2 values are not positive and have no place on a logarithmic axis"; empty for none.
std::string off_axis_note(size_t count);

// Of the values that have a place on the axis, and of what is shown in any case.
Extent extent_on(const ChartAxis& axis, const std::vector<double>& values, Extent extent = {});

// The area inside the axes, and where values lie in it.
struct ChartFrame {
  Box room, area;  // with labels and without
  Axis x, y;
  std::string x_label, y_label;

  bool has_place_for(double at, double value) const { return x.has_place_for(at) && y.has_place_for(value); }
  double across(double at) const { return area.left + x.position(at) * area.width; }
  double upwards(double value) const { return area.bottom() - y.position(value) * area.height; }
  Point place(double at, double value) const { return {across(at), upwards(value)}; }
};

struct ChartAxes {
  Axis x, y;
  std::string x_label = {}, y_label = {};
};

// Labels and ticks get their room, the area the rest.
ChartFrame frame_in(const Box& room, const ChartAxes& axes);

// Ticks with grid lines, and labels.
void draw_axes(Canvas& canvas, const ChartFrame& frame);
void draw_x_axis(Canvas& canvas, const ChartFrame& frame);

struct UprightAxis {
  Box room, area;  // the label stands at the left of the room, the ticks at the left of the area
  const Axis& axis;
  const std::string& label;
};
void draw_y_axis(Canvas& canvas, const UprightAxis& upright);

// Room for the y axis on the left, and for the x axis below.
double y_axis_width(const Axis& axis, const std::string& label, double height);
double x_axis_height(const std::string& label);

void draw_levels(Canvas& canvas, const Box& area, const Axis& axis, const std::vector<LevelLine>& levels);

std::vector<Tick> y_ticks(const Axis& axis, double height);

// The left and the lower edge. Drawn last, over what ends there.
void draw_edges(Canvas& canvas, const Box& area);

// Edges and words instead of data.
void draw_emptiness(Canvas& canvas, const Box& area, const std::string& words);

}  // namespace sluice
