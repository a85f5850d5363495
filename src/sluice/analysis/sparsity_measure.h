// How many values of attention's output are nearly nothing before the gate, after it, and with the gate's
// mean in its place: what the gate's pattern adds to its level.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sluice/ops/sequences.h"
#include "sluice/tensor/tensor.h"

namespace sluice {

// What counts as nearly nothing.
inline constexpr std::array kNearlyNothing = {1e-2, 1e-3};

using SparsityShares = std::array<double, kNearlyNothing.size()>;  // of each limit

// Sizes of one head's values in eight bins per power of two, so that the share below any limit can be told
// later, when the mean of the gate is known.
class SizeCounts {
 public:
  SizeCounts() : bins_(kBins) {}

  void add(float value);
  void add(const SizeCounts& other);
  double share_below(double size) const;

  // Its members, to whoever writes or reads them (look_bytes.cpp).
  template <class Stream>
  void pass_members(Stream& stream) {
    stream(count_);
    stream.sparse(bins_);
  }

 private:
  // A bin is what the sign-less bits of a float begin with: the exponent and three bits behind it.
  static constexpr int kDropped = 20;
  static constexpr size_t kBins = size_t{1} << (31 - kDropped);

  std::vector<int64_t> bins_;
  int64_t count_ = 0;
};

struct SparsityLayer {
  int64_t layer = 0;
  std::vector<SizeCounts> before = {};                           // by head
  std::array<int64_t, kNearlyNothing.size()> below_before = {};  // exact
  std::array<int64_t, kNearlyNothing.size()> below_after = {};
  int64_t values_before = 0, values_after = 0;

  SparsityShares shares_before() const;
  SparsityShares shares_after() const;

  // With each head's mean gate instead of its values; what falls into the limit's bin counts by its place
  // there.
  SparsityShares shares_with_means(const std::vector<double>& head_means) const;
};

// [N, heads, width] of attn.mixed. Returns the norm of each token's and head's values, [N, heads].
std::vector<float> add_before_gate(SparsityLayer& layer, const Tensor& mixed);

// The same of attn.gated.
void add_after_gate(SparsityLayer& layer, const Tensor& gated);

}  // namespace sluice
