#include "sluice/analysis/distribution.h"

#include <algorithm>
#include <cmath>

namespace sluice {
namespace {

constexpr double kCoarse = 32;  // of a mantissa between 0.5 and 1

double middle_of_coarse_bin(double value) {
  int exponent = 0;
  const double mantissa = std::frexp(value, &exponent);
  return std::ldexp((std::floor(mantissa * kCoarse) + 0.5) / kCoarse, exponent);
}

double half_of_coarse_bin(double middle) {
  int exponent = 0;
  std::frexp(middle, &exponent);
  return std::ldexp(0.5 / kCoarse, exponent);
}

}  // namespace

void Distribution::add(std::span<const float> values) {
  const auto last = static_cast<float>(bins_.size() - 1);
  for (const float value : values) {
    if (!std::isfinite(value)) continue;
    moments_.add(value);
    lowest_ = std::min<double>(lowest_, value);
    highest_ = std::max<double>(highest_, value);
    closed_ += value < static_cast<float>(kClosed) ? 1 : 0;
    below_half_ += value < static_cast<float>(kHalf) ? 1 : 0;
    open_ += value > static_cast<float>(kOpen) ? 1 : 0;
    if (value < static_cast<float>(kLow) || value >= static_cast<float>(kHigh)) {
      ++outside_[middle_of_coarse_bin(value)];
      continue;
    }
    const float bin = (value - static_cast<float>(kLow)) * static_cast<float>(kBinsPerUnit);
    ++bins_[static_cast<size_t>(std::min(bin, last))];
  }
}

void Distribution::add(const Distribution& other) {
  moments_.add(other.moments_);
  lowest_ = std::min(lowest_, other.lowest_);
  highest_ = std::max(highest_, other.highest_);
  closed_ += other.closed_;
  below_half_ += other.below_half_;
  open_ += other.open_;
  for (size_t i = 0; i < bins_.size(); ++i) bins_[i] += other.bins_[i];
  for (const auto& [middle, count] : other.outside_) outside_[middle] += count;
}

std::vector<Distribution::Bin> Distribution::filled_bins() const {
  std::vector<Bin> filled;
  const auto add_outside = [&](auto first, auto last) {
    for (; first != last; ++first) {
      const double half = half_of_coarse_bin(first->first);
      filled.push_back({first->first - half, first->first + half, first->second});
    }
  };
  const auto split = outside_.lower_bound(0.0);
  add_outside(outside_.begin(), split);
  for (size_t i = 0; i < bins_.size(); ++i) {
    if (bins_[i] == 0) continue;
    const double low = kLow + static_cast<double>(i) / kBinsPerUnit;
    filled.push_back({low, low + 1.0 / kBinsPerUnit, bins_[i]});
  }
  add_outside(split, outside_.end());
  return filled;
}

double Distribution::quantile(double at) const {
  if (count() == 0) return std::numeric_limits<double>::quiet_NaN();
  const double wanted = at * static_cast<double>(count());
  double passed = 0;
  for (const Bin& bin : filled_bins()) {
    const auto here = static_cast<double>(bin.count);
    if (passed + here >= wanted) {
      const double value = bin.low + (bin.high - bin.low) * (wanted - passed) / here;
      return std::clamp(value, lowest_, highest_);
    }
    passed += here;
  }
  return highest_;
}

std::vector<double> Distribution::histogram(double low, double high, size_t parts) const {
  std::vector<double> shares(parts);
  for (const Bin& bin : filled_bins()) {
    const double at = (bin.centre() - low) / (high - low) * static_cast<double>(parts);
    if (at >= 0 && at < static_cast<double>(parts)) shares[static_cast<size_t>(at)] += share(bin.count);
  }
  return shares;
}

double Distribution::bimodality() const {
  const double mean = moments_.mean(), deviation = moments_.deviation();
  const auto n = static_cast<double>(count());
  if (count() < 4 || deviation <= 1.0 / kBinsPerUnit) return std::numeric_limits<double>::quiet_NaN();
  double third = 0, fourth = 0;
  for (const Bin& bin : filled_bins()) {
    const double z = (bin.centre() - mean) / deviation;
    third += share(bin.count) * z * z * z;
    fourth += share(bin.count) * z * z * z * z;
  }
  const double excess = fourth - 3;
  return (third * third + 1) / (excess + 3 * (n - 1) * (n - 1) / ((n - 2) * (n - 3)));
}

}  // namespace sluice
