#include "sluice/analysis/ranks.h"

#include <algorithm>
#include <numeric>

#include "sluice/analysis/moments.h"
#include "sluice/base/assert.h"

namespace sluice {

std::vector<double> ranks(std::span<const double> values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (size_t first = 0; first < order.size();) {
    size_t end = first + 1;
    while (end < order.size() && values[order[end]] == values[order[first]]) ++end;
    const double shared = static_cast<double>(first + end - 1) / 2;
    for (size_t i = first; i < end; ++i) ranks[order[i]] = shared;
    first = end;
  }
  return ranks;
}

double rank_correlation(std::span<const double> x, std::span<const double> y) {
  SLUICE_ASSERT(x.size() == y.size(), "rank_correlation: {} against {} values", x.size(), y.size());
  const std::vector<double> x_ranks = ranks(x), y_ranks = ranks(y);
  JointMoments joint;
  for (size_t i = 0; i < x.size(); ++i) joint.add(x_ranks[i], y_ranks[i]);
  return joint.correlation();
}

}  // namespace sluice
