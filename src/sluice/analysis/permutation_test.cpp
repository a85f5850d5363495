#include "sluice/analysis/permutation_test.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "sluice/analysis/moments.h"
#include "sluice/base/random.h"

namespace sluice {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// Between the groups; what is within them follows, since the sum of both does not depend on the labels.
double between(std::span<const double> values, std::span<const size_t> sizes) {
  double sum = 0;
  size_t first = 0;
  for (const size_t size : sizes) {
    const double group = std::accumulate(values.begin() + static_cast<std::ptrdiff_t>(first),
                                         values.begin() + static_cast<std::ptrdiff_t>(first + size), 0.0);
    sum += group * group / static_cast<double>(size);
    first += size;
  }
  return sum;
}

void shuffle(std::vector<double>& values, const Random& random) {
  for (size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random.below(i, i)]);
}

}  // namespace

double permutation_p(std::span<const Samples> groups, const PermutationOptions& options) {
  if (groups.size() < 2 || std::ranges::any_of(groups, &Samples::empty)) return kUnknown;
  std::vector<double> values;
  std::vector<size_t> sizes;
  for (const Samples& group : groups) {
    values.insert(values.end(), group.begin(), group.end());
    sizes.push_back(group.size());
  }
  // Around their mean, so that small differences are not lost beside it.
  const double mean = Moments::of(values).mean();
  for (double& value : values) value -= mean;
  const double real = between(values, sizes);
  const double rounding = 1e-12 * std::abs(real);  // sums in another order
  size_t as_far = 1;                               // the real labels are one of the draws
  for (size_t i = 0; i < options.draws; ++i) {
    shuffle(values, Random(options.seed).child(i));
    if (between(values, sizes) >= real - rounding) ++as_far;
  }
  return static_cast<double>(as_far) / static_cast<double>(options.draws + 1);
}

double effect_size(const Samples& a, const Samples& b) {
  if (a.size() < 2 || b.size() < 2) return kUnknown;
  const Moments first = Moments::of(a), second = Moments::of(b);
  const double difference = first.mean() - second.mean();
  const double freedom = static_cast<double>(a.size() + b.size() - 2);
  const double squares =
      first.variance() * static_cast<double>(a.size()) + second.variance() * static_cast<double>(b.size());
  if (squares == 0)
    return difference == 0 ? 0 : std::copysign(std::numeric_limits<double>::infinity(), difference);
  return difference / std::sqrt(squares / freedom) * (1 - 3 / (4 * freedom - 1));
}

std::vector<double> holm(std::span<const double> p) {
  std::vector<size_t> order;
  for (size_t i = 0; i < p.size(); ++i)
    if (!std::isnan(p[i])) order.push_back(i);
  std::ranges::sort(order, [&](size_t a, size_t b) { return p[a] < p[b]; });
  std::vector<double> corrected(p.begin(), p.end());
  double highest = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    highest = std::max(highest, std::min(1.0, p[order[i]] * static_cast<double>(order.size() - i)));
    corrected[order[i]] = highest;
  }
  return corrected;
}

}  // namespace sluice
