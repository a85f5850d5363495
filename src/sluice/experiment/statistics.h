// What several measurements of one thing say about it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace sluice {

struct MeanInterval {
  int64_t count = 0;
  double mean = 0;
  std::optional<double> half_width = {};  // of the interval; one value alone has none
};

inline constexpr double kUsualError = 0.05;  // of a 95 % interval

// A look that was planned: how many pairs of seeds have ended then, the first that were planned, and how much
// of the 5 % error it may spend.
struct ExperimentLook {
  int64_t pairs = 0;
  double error = 0;
};

// Two runs with the same seed that have ended.
struct EndedPair {
  int64_t number = 0;                     // of its seed among those that are planned, from 0
  std::optional<double> difference = {};  // none: one of the runs does not count
};

// What a comparison over pairs of seeds comes to at the last of its looks that was reached.
struct PlannedDifference {
  int64_t pairs = 0;                        // that have ended, of those which the next look needs
  std::optional<ExperimentLook> look = {};  // none: the first one is still to come
  // Of the look's pairs that count; of all that do before a look. None: no pair counts. Its interval leaves
  // out the look's error.
  std::optional<MeanInterval> difference = {};
  double error() const { return look ? look->error : kUsualError; }
};

// A look is reached when the pairs of its seeds have all ended, whether they count or not: waiting for others
// in their place would let what was measured decide when to look.
PlannedDifference planned_difference(std::span<const EndedPair> pairs, std::span<const ExperimentLook> looks);

// With Student's t distribution: the values count as independent draws of a normal one. At least one value.
// The interval misses the mean with probability `error`.
MeanInterval mean_interval(std::span<const double> values, double error = kUsualError);

// What |t| of so many degrees of freedom exceeds with probability `error`, which is above 0 and below 1.
double student_limit(double error, int64_t degrees);

}  // namespace sluice
