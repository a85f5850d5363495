// Lines over a common axis: title, legend, round ticks, gaps where values are missing.
#pragma once

#include <string>
#include <vector>

#include "sluice/plot/chart_frame.h"
#include "sluice/plot/panel.h"
#include "sluice/plot/series.h"

namespace sluice {

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

Panel panel_of(LineChart chart);

}  // namespace sluice
