// How many tokens chose each expert, layer by layer: what a balance loss needs of a whole step.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sluice/base/assert.h"

namespace sluice {

// Sums of counts, so that passes and ranks may add theirs in any order.
class ExpertLoads {
 public:
  ExpertLoads(int64_t layers, int64_t experts)
      : experts_(experts), counts_(static_cast<size_t>(layers * experts)) {}

  // [experts] of a layer. Layers without experts stay at 0.
  std::span<int64_t> of(int64_t layer) { return std::span(counts_).subspan(first(layer), width()); }
  std::span<const int64_t> of(int64_t layer) const {
    return std::span(counts_).subspan(first(layer), width());
  }

  // [layers · experts]: what ranks that share a step sum up.
  std::span<int64_t> all() { return counts_; }

 private:
  size_t width() const { return static_cast<size_t>(experts_); }
  size_t first(int64_t layer) const {
    SLUICE_ASSERT(layer >= 0 && static_cast<size_t>((layer + 1) * experts_) <= counts_.size(),
                  "expert loads: no layer {}", layer);
    return static_cast<size_t>(layer * experts_);
  }

  int64_t experts_;
  std::vector<int64_t> counts_;
};

class SpreadExperts;  // nn/spread_experts.h

// What training asks of the routers in one pass. The values are the caller's and outlive the pass with its
// gradients.
struct RouterTraining {
  double balance = 0;  // coefficient of E · Σ f_i P_i, which is 1 for a perfect balance, in every layer
  double z = 0;        // of the mean of (log Σ e^scores)²
  // f comes from these, which are of the whole step; none: from the pass itself.
  const ExpertLoads* loads = nullptr;
  // The choices of the pass are added to these; none: nobody counts.
  ExpertLoads* counted = nullptr;
  // Who asks other ranks for their experts; none: all are here.
  SpreadExperts* spread = nullptr;
};

}  // namespace sluice
