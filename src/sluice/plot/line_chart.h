// Lines over a common axis: title, legend, round ticks, gaps where values are missing.
#pragma once

#include <string>
#include <vector>

#include "sluice/plot/axis.h"
#include "sluice/plot/legend.h"
#include "sluice/plot/series.h"

namespace sluice {

struct ChartAxis {
  std::string label;  // with its unit; empty: none
  AxisScale scale = AxisScale::Linear;
  Extent at_least = {};  // shown even if no value lies there: charts beside each other share an axis
  // Of the y axis: what lies above is cut off and marked by a triangle at the edge, so that one line that
  // leaves does not flatten all others.
  double at_most = std::numeric_limits<double>::infinity();
};

enum class LegendPlace { None, Above };

struct LineChart {
  std::string title = {};
  ChartAxis x = {}, y = {};
  std::vector<Series> series = {};
  LegendPlace legend = LegendPlace::Above;
  std::string empty = "no data";  // said where there is nothing to draw
};

std::vector<LegendEntry> legend_of(const std::vector<Series>& series);

// The box holds all of it, labels and title too.
void draw_line_chart(Canvas& canvas, const Box& box, const LineChart& chart);

}  // namespace sluice
