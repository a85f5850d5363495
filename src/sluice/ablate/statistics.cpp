#include "sluice/ablate/statistics.h"

#include <cmath>
#include <numeric>

#include "sluice/base/assert.h"

namespace sluice {
namespace {

// The 97.5 % quantile of Student's t for 1, 2, … degrees of freedom.
constexpr double kQuantiles[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
                                 2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086};

double t_quantile(int64_t degrees) {
  if (degrees <= std::ssize(kQuantiles)) return kQuantiles[degrees - 1];
  // Cornish and Fisher's expansion around the normal quantile z; right to 0.0005 from here on.
  constexpr double kZ = 1.95996, kZ3 = kZ * kZ * kZ, kZ5 = kZ3 * kZ * kZ;
  const auto d = static_cast<double>(degrees);
  return kZ + (kZ3 + kZ) / (4 * d) + (5 * kZ5 + 16 * kZ3 + 3 * kZ) / (96 * d * d);
}

}  // namespace

MeanInterval mean_interval(std::span<const double> values) {
  SLUICE_ASSERT(!values.empty(), "mean_interval: no values");
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  MeanInterval result{.count = std::ssize(values), .mean = mean};
  if (result.count == 1) return result;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  result.half_width = t_quantile(result.count - 1) * std::sqrt(squares / (count - 1) / count);
  return result;
}

}  // namespace sluice
