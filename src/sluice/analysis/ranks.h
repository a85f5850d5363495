// Orders and what they have in common.
#pragma once

#include <span>
#include <vector>

namespace sluice {

// From 0; equal values share the mean of their ranks.
std::vector<double> ranks(std::span<const double> values);

// Spearman's: the correlation of the ranks. NaN of fewer than two, or if one of them does not vary.
double rank_correlation(std::span<const double> x, std::span<const double> y);

}  // namespace sluice
