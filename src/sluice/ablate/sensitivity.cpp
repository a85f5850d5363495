#include "sluice/ablate/sensitivity.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "sluice/analysis/ranks.h"
#include "sluice/base/assert.h"
#include "sluice/base/random.h"

namespace sluice {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Sums of products of deviations from the means.
struct Deviations {
  double x_mean = 0, y_mean = 0, xx = 0, xy = 0, yy = 0;

  Deviations(std::span<const double> x, std::span<const double> y) : x_mean(mean_of(x)), y_mean(mean_of(y)) {
    for (size_t i = 0; i < x.size(); ++i) {
      xx += (x[i] - x_mean) * (x[i] - x_mean);
      xy += (x[i] - x_mean) * (y[i] - y_mean);
      yy += (y[i] - y_mean) * (y[i] - y_mean);
    }
  }
};

void draw_order(std::vector<double>& values, const Random& random) {
  for (size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random.below(i, i)]);
}

std::vector<Influence> influence_of(std::span<const double> x, std::span<const double> y,
                                    const Association& line) {
  const Deviations sums(x, y);
  const auto n = static_cast<double>(x.size());
  double residuals = 0;
  for (size_t i = 0; i < x.size(); ++i) residuals += std::pow(y[i] - line.intercept - line.slope * x[i], 2);
  constexpr double kCoefficients = 2;  // of a line
  const double variance = residuals / (n - kCoefficients);
  std::vector<Influence> influence;
  for (size_t i = 0; i < x.size(); ++i) {
    const double leverage = 1 / n + (x[i] - sums.x_mean) * (x[i] - sums.x_mean) / sums.xx;
    const double residual = y[i] - line.intercept - line.slope * x[i];
    // A line that fits perfectly is moved by nothing; one point far from all others moves it at will.
    const double cook = variance == 0   ? 0
                        : leverage >= 1 ? std::numeric_limits<double>::infinity()
                                        : residual * residual / (kCoefficients * variance) * leverage /
                                              ((1 - leverage) * (1 - leverage));
    influence.push_back({.leverage = leverage, .cook = cook});
  }
  return influence;
}

}  // namespace

double rank_correlation_p(std::span<const double> x, std::span<const double> y,
                          const PermutationOptions& options) {
  const double real = rank_correlation(x, y);
  if (std::isnan(real)) return kNone;
  constexpr double kRounding = 1e-12;
  const std::vector<double> x_ranks = ranks(x);
  std::vector<double> y_ranks = ranks(y);
  size_t as_far = 1;
  for (size_t i = 0; i < options.draws; ++i) {
    draw_order(y_ranks, Random(options.seed).child(i));
    const Deviations sums(x_ranks, y_ranks);
    if (std::abs(sums.xy) >= (std::abs(real) - kRounding) * std::sqrt(sums.xx * sums.yy)) ++as_far;
  }
  return static_cast<double>(as_far) / static_cast<double>(options.draws + 1);
}

Association association(std::span<const double> x, std::span<const double> y) {
  SLUICE_ASSERT(x.size() == y.size(), "association: {} against {} values", x.size(), y.size());
  Association result{.count = std::ssize(x),
                     .rank_correlation = kNone,
                     .p = kNone,
                     .slope = kNone,
                     .intercept = kNone,
                     .r_squared = kNone};
  if (x.size() < 3) return result;
  result.rank_correlation = rank_correlation(x, y);
  if (std::isnan(result.rank_correlation)) return result;
  result.p = rank_correlation_p(x, y);
  const Deviations sums(x, y);
  result.slope = sums.xy / sums.xx;
  result.intercept = sums.y_mean - result.slope * sums.x_mean;
  result.r_squared = sums.xy * sums.xy / (sums.xx * sums.yy);
  return result;
}

Sensitivity sensitivity(std::span<const double> x, std::span<const double> y) {
  Sensitivity result{.all = association(x, y)};
  if (std::isnan(result.all.r_squared)) return result;
  result.influence = influence_of(x, y, result.all);
  result.threshold = 4 / static_cast<double>(x.size());
  std::vector<double> other_x, other_y;
  for (size_t i = 0; i < x.size(); ++i) {
    if (result.influence[i].cook > result.threshold) {
      result.outliers.push_back(i);
    } else {
      other_x.push_back(x[i]);
      other_y.push_back(y[i]);
    }
  }
  result.without = association(other_x, other_y);
  return result;
}

nlohmann::ordered_json to_json(const Association& association) {
  return {{"n", association.count},
          {"spearman", association.rank_correlation},
          {"p", association.p},
          {"slope", association.slope},
          {"intercept", association.intercept},
          {"r_squared", association.r_squared}};
}

}  // namespace sluice
