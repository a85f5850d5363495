#include "sluice/experiment/experiment_result.h"

#include <algorithm>
#include <cmath>

#include "sluice/analysis/attention_measure.h"

namespace sluice {
namespace {

constexpr ExperimentFigure kExperimentFigures[] = {
    {.key = "validation_loss",
     .title = "validation loss",
     .value = &MeasuredTraining::validation_loss,
     .digits = 4,
     .is_compared = true},
    {.key = "sink",
     .title = "sink",
     .value = &MeasuredTraining::sink,
     .digits = 4,
     .is_compared = true,
     .is_share = true},
    {.key = "head_sink",
     .title = "sink of a head",
     .value = &MeasuredTraining::head_sink,
     .digits = 3,
     .is_share = true},
    {.key = "max_activation",
     .title = "largest activation",
     .value = &MeasuredTraining::max_activation,
     .digits = 2,
     .is_compared = true,
     .is_size = true},
    {.key = "copy_accuracy",
     .title = "copied right",
     .value = &MeasuredTraining::copy_accuracy,
     .digits = 4,
     .is_share = true},
    {.key = "excess", .title = "excess", .value = &MeasuredTraining::excess, .digits = 4},
    {.key = "gate_mean", .title = "mean gate", .value = &MeasuredTraining::gate_mean, .digits = 4},
    {.key = "spikes", .title = "spikes", .value = &MeasuredTraining::spikes, .digits = 1, .is_size = true}};

// Of two variants, by seed. As with means: if it was not measured of one run that counts, there is none.
std::vector<EndedPair> ended_pairs(const ExperimentResult& result, const PlannedVariant& variant,
                                   const PlannedVariant& other, double MeasuredTraining::*value) {
  std::vector<EndedPair> pairs;
  for (const MeasuredTraining& run : result.runs) {
    if (run.variant != variant.point.name()) continue;
    for (const MeasuredTraining& base : result.runs) {
      if (base.variant != other.point.name() || base.seed != run.seed) continue;
      pairs.push_back({.seed_index = run.seed - result.experiment.first_seed});
      if (run_counts(result.experiment, run) && run_counts(result.experiment, base))
        pairs.back().difference = run.*value - base.*value;
    }
  }
  const bool some_is_missing = std::ranges::any_of(
      pairs, [](const EndedPair& pair) { return pair.difference && !std::isfinite(*pair.difference); });
  if (some_is_missing)
    for (EndedPair& pair : pairs) pair.difference.reset();
  std::ranges::sort(pairs, {}, &EndedPair::seed_index);
  return pairs;
}

struct Point {
  double x = 0, y = 0;
};

// Of the line with the least squares.
double slope_of(std::span<const Point> points) {
  double x = 0, y = 0, products = 0, squares = 0;
  for (const Point& point : points) x += point.x, y += point.y;
  x /= static_cast<double>(points.size());
  y /= static_cast<double>(points.size());
  for (const Point& point : points) {
    products += (point.x - x) * (point.y - y);
    squares += (point.x - x) * (point.x - x);
  }
  return products / squares;
}

// The pairs of a seed under all conditions, as one whose difference is their slope.
std::vector<EndedPair> ended_slopes(const ExperimentResult& result, const std::string& variant,
                                    double MeasuredTraining::*value) {
  struct Seed {
    size_t ended = 0;
    std::vector<Point> points = {};  // of the pairs that count
  };
  std::map<int64_t, Seed> by_seed;
  for (const PlannedVariant& each : result.variants) {
    if (each.variant != variant) continue;
    for (const EndedPair& pair : ended_pairs(result, each, reference_of(result, each), value)) {
      Seed& seed = by_seed[pair.seed_index];
      ++seed.ended;
      if (pair.difference) seed.points.push_back({std::log10(each.at), *pair.difference});
    }
  }
  std::vector<EndedPair> slopes;
  const size_t conditions = result.experiment.conditions.size();
  for (const auto& [seed_index, seed] : by_seed) {
    if (seed.ended < conditions) continue;
    slopes.push_back({.seed_index = seed_index});
    if (seed.points.size() == conditions) slopes.back().difference = slope_of(seed.points);
  }
  return slopes;
}

}  // namespace

std::span<const ExperimentFigure> experiment_figures() {
  return kExperimentFigures;
}

std::optional<Interval> possible_values(const ExperimentFigure& figure) {
  if (figure.is_share) return kShares;
  return figure.is_size ? std::optional(kSizes) : std::nullopt;
}

std::optional<Interval> possible_differences(const ExperimentFigure& figure) {
  return figure.is_share ? std::optional(kShareDifferences) : std::nullopt;
}

bool run_counts(const Experiment& experiment, const MeasuredTraining& run) {
  return !run.diverged && (!experiment.solved || run.copy_accuracy >= *experiment.solved);
}

bool has_sink(const ExperimentResult& result, const MeasuredTraining& run) {
  return run.sink >= kSinkTimesUniform * result.sink_floor;
}

std::vector<const MeasuredTraining*> counted_runs(const ExperimentResult& result,
                                                  const PlannedVariant& variant) {
  std::vector<const MeasuredTraining*> counted;
  for (const MeasuredTraining& run : result.runs)
    if (run.variant == variant.point.name() && run_counts(result.experiment, run)) counted.push_back(&run);
  return counted;
}

ExperimentResult as_of_look(const ExperimentResult& result, int64_t pairs) {
  ExperimentResult then = result;
  const auto is_later = [&](const auto& run) { return run.seed >= result.experiment.first_seed + pairs; };
  std::erase_if(then.runs, is_later);
  std::erase_if(then.courses, is_later);
  std::erase_if(then.broken, is_later);
  std::erase_if(then.experiment.looks, [&](const ExperimentLook& look) { return look.pairs > pairs; });
  return then;
}

int64_t pairs_looked_at(const ExperimentResult& result) {
  std::optional<int64_t> fewest;
  for (const PlannedVariant& variant : result.variants) {
    if (!is_compared(result, variant)) continue;
    const auto look = planned_difference(result, variant, &MeasuredTraining::validation_loss).look;
    const int64_t pairs = look ? look->pairs : 0;
    fewest = std::min(fewest.value_or(pairs), pairs);
  }
  return fewest.value_or(0);
}

std::vector<double> values_over_seeds(const ExperimentResult& result, const PlannedVariant& variant,
                                      double MeasuredTraining::*value) {
  std::vector<double> values;
  for (const MeasuredTraining* run : counted_runs(result, variant)) values.push_back(run->*value);
  if (!std::ranges::all_of(values, [](double each) { return std::isfinite(each); })) return {};
  return values;
}

std::optional<MeanInterval> figure_over_seeds(const ExperimentResult& result, const PlannedVariant& variant,
                                              double MeasuredTraining::*value) {
  const std::vector<double> values = values_over_seeds(result, variant, value);
  if (values.empty()) return {};
  return mean_interval(values);
}

DifferenceAtLook planned_difference(const ExperimentResult& result, const PlannedVariant& variant,
                                    double MeasuredTraining::*value) {
  return difference_between(result, variant, reference_of(result, variant), value);
}

DifferenceAtLook difference_between(const ExperimentResult& result, const PlannedVariant& variant,
                                    const PlannedVariant& other, double MeasuredTraining::*value) {
  return difference_at_look(ended_pairs(result, variant, other, value), result.experiment.looks);
}

DifferenceAtLook planned_slope(const ExperimentResult& result, const std::string& variant,
                               double MeasuredTraining::*value) {
  return difference_at_look(ended_slopes(result, variant, value), result.experiment.looks);
}

const PlannedVariant& reference_of(const ExperimentResult& result, const PlannedVariant& variant) {
  return result.variants.at(variant.reference);
}

bool is_compared(const ExperimentResult& result, const PlannedVariant& variant) {
  return !result.experiment.looks.empty() &&
         reference_of(result, variant).point.name() != variant.point.name();
}

}  // namespace sluice
