// How runs went: losses, attention sink, massive activation and gates over the course of training.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sluice/plot/figure.h"
#include "sluice/plot/line_chart.h"
#include "sluice/plot/run_curves.h"

namespace sluice {

struct TrainingCurves {
  LineChart loss;
  // Sink, activation, gates; those that none of the runs has are left out.
  std::vector<LineChart> details;
  std::vector<LegendEntry> legend;
  std::vector<std::string> caption;  // lines: what the lines mean, and on how much text they were measured
};

TrainingCurves training_curves(std::span<const LabelledRuns> groups, Progression over);

// The losses in a large panel, the details in a row below.
Figure training_figure(TrainingCurves curves);

}  // namespace sluice
