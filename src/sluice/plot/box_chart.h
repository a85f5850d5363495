// Distributions by category (layers), one box each: quantiles and mean; several groups (models) beside each
// other.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "sluice/plot/category_axis.h"
#include "sluice/plot/chart_frame.h"
#include "sluice/plot/panel.h"

namespace sluice {

struct BoxSummary {
  static constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

  // Quantiles 0.05, 0.25, 0.5, 0.75 and 0.95. If one of them is not finite, there is no box.
  double low = kMissing, lower = kMissing, median = kMissing, upper = kMissing, high = kMissing;
  double mean = kMissing;  // a diamond; not finite: none
};

// For captions.
inline constexpr const char* kBoxMeaning =
    "Boxes from the quartile 0.25 to 0.75 with the median, whiskers from quantile 0.05 to 0.95, diamonds: "
    "means.";

struct BoxGroup {
  std::string name = {};               // empty: not in the legend
  std::vector<BoxSummary> boxes = {};  // by category
};

struct BoxChart {
  std::string title = {};
  CategoryAxis x = {};
  ChartAxis y = {};
  std::vector<BoxGroup> groups = {};
  LegendPlace legend = LegendPlace::Above;
  std::string empty = "no data";
};

// The box holds all of it, labels and title too.
void draw_box_chart(Canvas& canvas, const Box& box, const BoxChart& chart);

Panel panel_of(BoxChart chart);

}  // namespace sluice
