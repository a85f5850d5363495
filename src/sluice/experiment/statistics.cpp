#include "sluice/experiment/statistics.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include "sluice/base/assert.h"

namespace sluice {
namespace {

// The probability that |t| stays below a value, for whole degrees of freedom: a finite sum over powers of the
// cosine of atan(t / sqrt(degrees)) (Abramowitz and Stegun, 26.7.3 and 26.7.4).
double student_within(double t, int64_t degrees) {
  const double angle = std::atan(t / std::sqrt(static_cast<double>(degrees)));
  const double cosine = std::cos(angle);
  const bool odd = degrees % 2 == 1;
  double term = odd ? cosine : 1.0, sum = degrees == 1 ? 0.0 : term;
  for (int64_t k = odd ? 3 : 2; k < degrees; k += 2) {
    term *= cosine * cosine * static_cast<double>(k - 1) / static_cast<double>(k);
    sum += term;
  }
  return odd ? (angle + std::sin(angle) * sum) * 2 / std::numbers::pi : std::sin(angle) * sum;
}

}  // namespace

double student_limit(double error, int64_t degrees) {
  SLUICE_ASSERT(error > 0 && error < 1 && degrees > 0, "student_limit: error {} of {} degrees", error,
                degrees);
  double low = 0, high = 1;
  while (student_within(high, degrees) < 1 - error) high *= 2;
  for (int halving = 0; halving < 60; ++halving) {
    const double middle = (low + high) / 2;
    (student_within(middle, degrees) < 1 - error ? low : high) = middle;
  }
  return (low + high) / 2;
}

MeanInterval mean_interval(std::span<const double> values, double error) {
  SLUICE_ASSERT(!values.empty(), "mean_interval: no values");
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  MeanInterval result{.count = std::ssize(values), .mean = mean};
  if (result.count == 1) return result;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  result.half_width = student_limit(error, result.count - 1) * std::sqrt(squares / (count - 1) / count);
  return result;
}

namespace {

int64_t ended_among(std::span<const EndedPair> pairs, int64_t first) {
  return std::ranges::count_if(pairs, [&](const EndedPair& pair) { return pair.number < first; });
}

}  // namespace

PlannedDifference planned_difference(std::span<const EndedPair> pairs,
                                     std::span<const ExperimentLook> looks) {
  PlannedDifference planned{.pairs = std::ssize(pairs)};
  for (const ExperimentLook& look : looks) {
    planned.pairs = ended_among(pairs, look.pairs);
    if (planned.pairs < look.pairs) break;
    planned.look = look;
  }
  // Pairs that came after the look were not planned to be looked at with it.
  std::vector<double> differences;
  for (const EndedPair& pair : pairs)
    if (pair.difference && (!planned.look || pair.number < planned.look->pairs))
      differences.push_back(*pair.difference);
  if (!differences.empty()) planned.difference = mean_interval(differences, planned.error());
  return planned;
}

}  // namespace sluice
