// How values are spread, without keeping them: exact moments and shares, quantiles by fine bins.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "sluice/analysis/moments.h"

namespace sluice {

class Distribution {
 public:
  // Gates lie within, but for activations without a bound: what lies outside is counted in bins of 1/16 of a
  // power of two.
  static constexpr double kLow = -4, kHigh = 4;
  static constexpr int64_t kBinsPerUnit = 4096;

  static constexpr double kClosed = 0.1, kHalf = 0.5, kOpen = 0.9;

  Distribution() : bins_(static_cast<size_t>((kHigh - kLow) * kBinsPerUnit)) {}

  // What is not finite has no place and is left out.
  void add(std::span<const float> values);
  void add(const Distribution& other);

  const Moments& moments() const { return moments_; }
  int64_t count() const { return moments_.count; }
  double lowest() const { return lowest_; }
  double highest() const { return highest_; }

  // Shares of all values: below 0.1, below 0.5, above 0.9.
  double closed() const { return share(closed_); }
  double below_half() const { return share(below_half_); }
  double open() const { return share(open_); }

  // `at` from 0 to 1. To the width of a bin: 1/4096, outside 6 % of the value.
  double quantile(double at) const;

  // Shares of all values in `count` equal parts of [low, high].
  std::vector<double> histogram(double low, double high, size_t count) const;

  // Sarle's coefficient: 0.555 for a flat distribution, more for two humps, at most 1. NaN if nothing varies.
  double bimodality() const;

  // Its members, to whoever writes or reads them (look_bytes.cpp).
  template <class Stream>
  void pass_members(Stream& stream) {
    stream(moments_, lowest_, highest_, closed_, below_half_, open_, outside_);
    stream.sparse(bins_);
  }

 private:
  double share(int64_t part) const { return static_cast<double>(part) / static_cast<double>(count()); }

  struct Bin {
    double low = 0, high = 0;
    int64_t count = 0;
    double centre() const { return (low + high) / 2; }
  };
  // Those that have a value, from the lowest.
  std::vector<Bin> filled_bins() const;

  Moments moments_;
  double lowest_ = std::numeric_limits<double>::infinity(), highest_ = -lowest_;
  int64_t closed_ = 0, below_half_ = 0, open_ = 0;
  std::vector<int64_t> bins_;
  std::map<double, int64_t> outside_ = {};  // by the middle of their bins
};

}  // namespace sluice
