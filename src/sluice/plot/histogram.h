// Counts in bins as a density, with a smooth line over it and marked values.
#pragma once

#include <string>
#include <vector>

#include "sluice/plot/chart_frame.h"
#include "sluice/plot/density.h"
#include "sluice/plot/panel.h"

namespace sluice {

// A value that is marked by an upright line; its name stands in the legend.
struct ReferenceLine {
  double value = 0;
  std::string name = {};
};

enum class DensityLine { None, Smoothed };

struct Histogram {
  std::string title = {};
  ChartAxis x = {};
  ChartAxis y = {.label = "density"};
  BinnedCounts bins = {};
  DensityLine line = DensityLine::Smoothed;
  std::vector<ReferenceLine> marks = {};
  std::string empty = "no data";
};

// The box holds all of it, labels and title too.
void draw_histogram(Canvas& canvas, const Box& box, const Histogram& histogram);

Panel panel_of(Histogram histogram);

}  // namespace sluice
