// Sums from which means, spreads and correlations follow. Added together they are those of everything.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace sluice {

struct Moments {
  int64_t count = 0;
  double sum = 0, squares = 0;

  void add(double value) {
    ++count;
    sum += value;
    squares += value * value;
  }
  void add(const Moments& other) {
    count += other.count;
    sum += other.sum;
    squares += other.squares;
  }

  template <class Values>
  static Moments of(const Values& values) {
    Moments moments;
    for (const auto value : values) moments.add(value);
    return moments;
  }

  // NaN of nothing.
  double mean() const { return sum / static_cast<double>(count); }
  double variance() const { return std::fmax(squares / static_cast<double>(count) - mean() * mean(), 0.0); }
  double deviation() const { return std::sqrt(variance()); }
};

// Of pairs.
struct JointMoments {
  Moments x, y;
  double products = 0;

  void add(double x_value, double y_value) {
    x.add(x_value);
    y.add(y_value);
    products += x_value * y_value;
  }
  void add(const JointMoments& other) {
    x.add(other.x);
    y.add(other.y);
    products += other.products;
  }

  // Pearson's; NaN if one of the two does not vary: below this share of its size it is rounding.
  double correlation() const {
    constexpr double kRounding = 1e-12;
    const double spread = x.deviation() * y.deviation();
    if (x.count < 2 || x.variance() <= kRounding * x.mean() * x.mean() ||
        y.variance() <= kRounding * y.mean() * y.mean() || spread == 0)
      return std::numeric_limits<double>::quiet_NaN();
    return (products / static_cast<double>(x.count) - x.mean() * y.mean()) / spread;
  }
};

}  // namespace sluice
