// Names beside samples of their lines, in rows.
#pragma once

#include <string>
#include <vector>

#include "sluice/plot/series.h"

namespace sluice {

struct LegendEntry {
  std::string name;
  SeriesStyle style;
};

double legend_height(const std::vector<LegendEntry>& entries, double width);

// From the top left corner; names that do not fit the width are cut. Beyond six rows the last words are
// "… and 12 more".
void draw_legend(Canvas& canvas, const Box& box, const std::vector<LegendEntry>& entries);

}  // namespace sluice
