// Whether one quantity of layers goes with another, and which layer the answer hangs on.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "sluice/analysis/permutation_test.h"

namespace sluice {

// The share of random pairings, the real one among them, whose rank correlation is at least as far from 0.
// Never 0; NaN if there is no correlation.
double rank_correlation_p(std::span<const double> x, std::span<const double> y,
                          const PermutationOptions& options = {});

// Spearman's correlation with its test, and a straight line by least squares. All are NaN of fewer than three
// points, or if one of the two quantities does not vary.
struct Association {
  int64_t count = 0;
  double rank_correlation = 0, p = 0;
  double slope = 0, intercept = 0, r_squared = 0;
};

// How much the line depends on one point.
struct Influence {
  double leverage = 0;  // how far the point is from the others in x: 1/n to 1
  double cook = 0;      // Cook's distance: how far the line moves without it
};

struct Sensitivity {
  Association all = {};
  std::vector<Influence> influence = {};  // by point
  double threshold = 0;                   // of Cook's distance, 4/n: points above it are outliers
  std::vector<size_t> outliers = {};
  Association without = {};  // of the other points
};

Association association(std::span<const double> x, std::span<const double> y);
Sensitivity sensitivity(std::span<const double> x, std::span<const double> y);

nlohmann::ordered_json to_json(const Association& association);

}  // namespace sluice
