// How runs went: losses, attention sink, massive activation and gates over the course of training.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sluice/plot/figure.h"
#include "sluice/plot/line_chart.h"
#include "sluice/train/metrics.h"

namespace sluice {

struct LabelledRun {
  std::string label;
  RunMetrics metrics;
};

enum class Progression { Steps, Tokens, Seconds };  // what the runs are drawn over

struct TrainingCurves {
  LineChart loss;
  // Sink, activation, gates; those that none of the runs has are left out.
  std::vector<LineChart> details;
  std::vector<LegendEntry> legend;
  std::vector<std::string> caption;  // lines: what the lines mean, and on how much text they were measured
};

// "step", "tokens" or "seconds".
std::string name_of(Progression over);

TrainingCurves training_curves(std::span<const LabelledRun> runs, Progression over);

// The losses in a large panel, the details in a row below.
Figure training_figure(TrainingCurves curves);

// The median of the `window` values around each, fewer at the ends. NaN does not count.
std::vector<double> running_median(const std::vector<double>& values, size_t window);

}  // namespace sluice
