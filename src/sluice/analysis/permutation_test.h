// Whether groups of samples differ by more than chance: the labels are drawn anew, and the figure of the real
// ones is looked up among those of the draws.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sluice {

using Samples = std::vector<double>;  // of one group

struct PermutationOptions {
  size_t draws = 2000;
  uint64_t seed = 0;
};

// Share of the draws, the real labels among them, whose groups differ at least as much by the F statistic of
// one-way analysis of variance. Never 0. NaN of fewer than two groups or if a group has no sample.
double permutation_p(std::span<const Samples> groups, const PermutationOptions& options = {});

// Of two groups: how many standard deviations their means are apart, corrected for few samples (Hedges' g).
// NaN if a group has fewer than two samples; 0 if nothing varies and the means are the same.
double effect_size(const Samples& a, const Samples& b);

// Holm's correction of many p values, in the order given. NaN stays and does not count.
std::vector<double> holm(std::span<const double> p);

}  // namespace sluice
