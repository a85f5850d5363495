#include "sluice/analysis/sparsity_measure.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace sluice {
namespace {

using BelowCounts = std::array<int64_t, kNearlyNothing.size()>;

void count_below(float value, BelowCounts& below) {
  for (size_t i = 0; i < below.size(); ++i)
    below[i] += std::abs(value) < static_cast<float>(kNearlyNothing[i]) ? 1 : 0;
}

SparsityShares shares_of(const BelowCounts& below, int64_t count) {
  SparsityShares shares = {};
  for (size_t i = 0; i < shares.size(); ++i)
    shares[i] = static_cast<double>(below[i]) / static_cast<double>(count);
  return shares;
}

size_t bin_of(float value, int dropped) {
  return std::bit_cast<uint32_t>(std::abs(value)) >> dropped;
}

}  // namespace

void SizeCounts::add(float value) {
  ++bins_[bin_of(value, kDropped)];
  ++count_;
}

void SizeCounts::add(const SizeCounts& other) {
  for (size_t i = 0; i < bins_.size(); ++i) bins_[i] += other.bins_[i];
  count_ += other.count_;
}

double SizeCounts::share_below(double size) const {
  const float limit = static_cast<float>(std::min<double>(size, std::numeric_limits<float>::max()));
  const auto bin = static_cast<uint32_t>(bin_of(limit, kDropped));
  const auto low = std::bit_cast<float>(bin << kDropped), high = std::bit_cast<float>((bin + 1) << kDropped);
  double below = 0;
  for (size_t i = 0; i < bin; ++i) below += static_cast<double>(bins_[i]);
  below += (limit - low) / (high - low) * static_cast<double>(bins_[bin]);
  return below / static_cast<double>(count_);
}

SparsityShares SparsityLayer::shares_before() const {
  return shares_of(below_before, values_before);
}

SparsityShares SparsityLayer::shares_after() const {
  return shares_of(below_after, values_after);
}

SparsityShares SparsityLayer::shares_with_means(const std::vector<double>& head_means) const {
  SparsityShares shares = {};
  for (size_t i = 0; i < shares.size(); ++i) {
    for (size_t h = 0; h < before.size(); ++h)
      shares[i] += before[h].share_below(kNearlyNothing[i] / std::abs(head_means[h]));
    shares[i] /= static_cast<double>(before.size());
  }
  return shares;
}

std::vector<float> add_before_gate(SparsityLayer& layer, const Tensor& mixed) {
  const auto heads = static_cast<size_t>(mixed.shape()[1]), width = static_cast<size_t>(mixed.shape()[2]);
  layer.before.resize(heads);
  const auto values = mixed.values<float>();
  std::vector<float> norms;
  for (size_t first = 0, h = 0; first < values.size(); first += width, h = h + 1 == heads ? 0 : h + 1) {
    double squares = 0;
    for (const float value : values.subspan(first, width)) {
      layer.before[h].add(value);
      count_below(value, layer.below_before);
      squares += static_cast<double>(value) * value;
    }
    norms.push_back(static_cast<float>(std::sqrt(squares)));
  }
  layer.values_before += mixed.count();
  return norms;
}

void add_after_gate(SparsityLayer& layer, const Tensor& gated) {
  for (const float value : gated.values<float>()) count_below(value, layer.below_after);
  layer.values_after += gated.count();
}

}  // namespace sluice
