// Distributions below each other, by depth: each a filled line that reaches into the one above.
#pragma once

#include <string>
#include <vector>

#include "sluice/plot/category_axis.h"
#include "sluice/plot/chart_frame.h"
#include "sluice/plot/density.h"
#include "sluice/plot/panel.h"

namespace sluice {

struct Ridge {
  std::string name = {};
  BinnedCounts bins = {};
};

enum class RidgeHeight {
  Own,     // each reaches equally high: shapes can be compared
  Common,  // equal areas: heights can be compared
};

struct RidgeChart {
  std::string title = {};
  ChartAxis x = {};
  std::string y_label = {};        // what the names are
  std::vector<Ridge> ridges = {};  // from the top
  RidgeHeight height = RidgeHeight::Own;
  std::string empty = "no data";
};

// The box holds all of it, labels and title too.
void draw_ridge_chart(Canvas& canvas, const Box& box, const RidgeChart& chart);

Panel panel_of(RidgeChart chart);

}  // namespace sluice
