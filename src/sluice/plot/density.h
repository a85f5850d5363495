// Densities from counts in bins.
#pragma once

#include <vector>

#include "sluice/plot/canvas.h"

namespace sluice {

struct BinnedCounts {
  std::vector<double> edges = {};   // ascending, one more than bins; empty without bins
  std::vector<double> counts = {};  // per bin; what is negative or not finite counts as 0

  double total() const;
};

// Per unit of x, so that the areas of all bins sum to 1. All 0 if nothing was counted.
std::vector<double> densities(const BinnedCounts& bins);

// A smooth line of the same area: bins spread by a normal distribution, mirrored at both ends so that a
// quantity with bounds, such as a gate, loses nothing beyond them. Empty if nothing was counted.
std::vector<Point> smoothed_density(const BinnedCounts& bins);

}  // namespace sluice
