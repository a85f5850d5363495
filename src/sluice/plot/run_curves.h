// Runs as lines of a chart.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sluice/plot/series.h"
#include "sluice/train/metrics.h"

namespace sluice {

// One run, or several that differ in their seeds alone. Those are drawn as one: their mean, and a band from
// the lowest to the highest.
struct LabelledRuns {
  std::string label;
  std::vector<RunMetrics> runs;
};

enum class Progression { Steps, Tokens, Seconds };  // what the runs are drawn over

// "step", "tokens" or "seconds".
std::string name_of(Progression over);

// The loss of every step, faint, and its running median.
Series raw_loss(const LabelledRuns& group, const SeriesStyle& style, Progression over);
Series median_loss(const LabelledRuns& group, const SeriesStyle& style, Progression over);

// NaN: the run does not have the value.
Series validation_series(const LabelledRuns& group, const SeriesStyle& style, Progression over,
                         const std::function<double(const Validation&)>& value);

// The median of the `window` values around each, fewer at the ends. NaN does not count.
std::vector<double> running_median(const std::vector<double>& values, size_t window);

}  // namespace sluice
