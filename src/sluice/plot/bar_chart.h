// Bars or dots by category, several groups beside each other, with intervals.
#pragma once

#include <string>
#include <vector>

#include "sluice/plot/category_axis.h"
#include "sluice/plot/chart_frame.h"
#include "sluice/plot/panel.h"

namespace sluice {

struct BarGroup {
  std::string name = {};                    // empty: not in the legend
  std::vector<double> values = {};          // by category; what is not finite has no bar
  std::vector<double> low = {}, high = {};  // an interval around each, as long as values or empty
  // By category what the value is a mean of, a dot for each: where a mean lies between two kinds of cases,
  // they show it. As long as values or empty.
  std::vector<std::vector<double>> points = {};
};

enum class BarMarks {
  Bars,  // stand on 0, on a logarithmic axis on its lower end
  Dots   // stand on nothing: the axis is where the values are, so that small differences are seen
};

struct BarChart {
  std::string title = {};
  CategoryAxis x = {};
  ChartAxis y = {};
  std::vector<BarGroup> groups = {};
  BarMarks marks = BarMarks::Bars;
  LegendPlace legend = LegendPlace::Above;
  std::string empty = "no data";
};

// The box holds all of it, labels and title too.
void draw_bar_chart(Canvas& canvas, const Box& box, const BarChart& chart);

Panel panel_of(BarChart chart);

}  // namespace sluice
