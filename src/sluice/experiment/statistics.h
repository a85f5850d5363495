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

// With Student's t distribution: the values count as independent draws of a normal one. At least one value.
// The interval misses the mean with probability `error`.
MeanInterval mean_interval(std::span<const double> values, double error = kUsualError);

// What |t| of so many degrees of freedom exceeds with probability `error`, which is above 0 and below 1.
double student_limit(double error, int64_t degrees);

}  // namespace sluice
