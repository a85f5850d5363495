// Names beside samples of their lines or areas, in rows.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sluice/plot/fill_style.h"
#include "sluice/plot/series.h"

namespace sluice {

struct LegendEntry {
  std::string name;
  SeriesStyle style = {};
  std::optional<FillStyle> fill = {};  // an area instead of a line
};

double legend_height(const std::vector<LegendEntry>& entries, double width);

// From the top left corner; names that do not fit the width are cut. Beyond six rows the last words are
// "… and 12 more".
void draw_legend(Canvas& canvas, const Box& box, const std::vector<LegendEntry>& entries);

}  // namespace sluice
