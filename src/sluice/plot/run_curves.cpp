#include "sluice/plot/run_curves.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace sluice {
namespace {

constexpr double kRawOpacity = 0.35, kRawWidth = 0.7;
// A fortieth of a run is short against what is to be seen of it; beyond 301 a median gains nothing.
constexpr size_t kMedianShare = 40, kLeastMedian = 5, kMostMedian = 301;

double progress_of(const StepMetrics& at, Progression over) {
  switch (over) {
    case Progression::Steps:
      return static_cast<double>(at.step);
    case Progression::Tokens:
      return at.tokens;
    case Progression::Seconds:
      return at.seconds;
  }
  return StepMetrics::kUnknown;
}

// What one run measured at some of its steps.
struct Curve {
  std::vector<int64_t> steps;
  std::vector<double> x, y;
};

Curve training_loss(const RunMetrics& run, Progression over) {
  Curve curve;
  for (const StepMetrics& each : run.steps) {
    curve.steps.push_back(each.step);
    curve.x.push_back(progress_of(each, over));
    curve.y.push_back(each.loss);
  }
  return curve;
}

Curve smoothed(Curve curve) {
  curve.y = running_median(curve.y, std::clamp(curve.y.size() / kMedianShare, kLeastMedian, kMostMedian));
  return curve;
}

Curve at_validations(const RunMetrics& run, Progression over,
                     const std::function<double(const Validation&)>& value) {
  Curve curve;
  for (const ValidationMetrics& each : run.validations) {
    curve.steps.push_back(each.at.step);
    curve.x.push_back(progress_of(each.at, over));
    curve.y.push_back(value(each.validation));
  }
  return curve;
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// The same step of all runs is one point of the line; the mean is over those that have it.
Series mean_series(const std::vector<Curve>& curves) {
  struct Values {
    std::vector<double> x, y;
  };
  std::map<int64_t, Values> by_step;
  for (const Curve& curve : curves) {
    for (size_t i = 0; i < curve.steps.size(); ++i) {
      Values& values = by_step[curve.steps[i]];
      values.x.push_back(curve.x[i]);
      if (std::isfinite(curve.y[i])) values.y.push_back(curve.y[i]);
    }
  }
  Series series;
  for (const auto& [step, values] : by_step) {
    series.x.push_back(mean_of(values.x));
    series.y.push_back(values.y.empty() ? std::nan("") : mean_of(values.y));
    if (curves.size() == 1) continue;
    const auto [low, high] = std::ranges::minmax_element(values.y);
    series.low.push_back(values.y.empty() ? std::nan("") : *low);
    series.high.push_back(values.y.empty() ? std::nan("") : *high);
  }
  return series;
}

Series mean_series(const LabelledRuns& group, const std::function<Curve(const RunMetrics&)>& curve_of) {
  std::vector<Curve> curves;
  for (const RunMetrics& run : group.runs) curves.push_back(curve_of(run));
  return mean_series(curves);
}

}  // namespace

std::string name_of(Progression over) {
  switch (over) {
    case Progression::Steps:
      return "step";
    case Progression::Tokens:
      return "tokens";
    case Progression::Seconds:
      return "seconds";
  }
  return "";
}

std::vector<double> running_median(const std::vector<double>& values, size_t window) {
  std::vector<double> result, around;
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t half = window / 2;
    around.clear();
    for (size_t j = i - std::min(i, half); j <= std::min(i + half, values.size() - 1); ++j)
      if (std::isfinite(values[j])) around.push_back(values[j]);
    const auto middle = around.begin() + static_cast<ptrdiff_t>(around.size() / 2);
    std::nth_element(around.begin(), middle, around.end());
    result.push_back(around.empty() ? std::nan("") : *middle);
  }
  return result;
}

Series raw_loss(const LabelledRuns& group, const SeriesStyle& style, Progression over) {
  Series series = mean_series(group, [&](const RunMetrics& run) { return training_loss(run, over); });
  series.name = group.label + ": training loss";
  series.style = {.color = with_opacity(style.color, kRawOpacity), .width = kRawWidth};
  return series;
}

Series median_loss(const LabelledRuns& group, const SeriesStyle& style, Progression over) {
  Series series =
      mean_series(group, [&](const RunMetrics& run) { return smoothed(training_loss(run, over)); });
  series.name = group.label + ": running median";
  series.style = {.color = style.color, .width = style.width, .dashes = style.dashes};
  return series;
}

Series validation_series(const LabelledRuns& group, const SeriesStyle& style, Progression over,
                         const std::function<double(const Validation&)>& value) {
  Series series = mean_series(group, [&](const RunMetrics& run) { return at_validations(run, over, value); });
  series.name = group.label;
  series.style = style;
  return series;
}

}  // namespace sluice
