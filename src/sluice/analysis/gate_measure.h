// What a gate does in one layer, over all sequences that have passed.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "sluice/analysis/distribution.h"
#include "sluice/eval/estimate.h"
#include "sluice/ops/sequences.h"
#include "sluice/tensor/tensor.h"

namespace sluice {

struct GateHead {
  Moments all, first;  // first: of the tokens at position 0
  int64_t closed = 0;  // values below 0.1

  double closed_share() const { return static_cast<double>(closed) / static_cast<double>(all.count); }
};

// Of one sequence: what intervals are computed from.
struct GateUnit {
  Moments first, others;
};

// Which channels of an elementwise gate are always closed (mean below 0.1), always open (above 0.9), or
// depend on the input (variance above 0.01).
struct ChannelSets {
  std::vector<bool> closed, open, dynamic;  // [heads · width]
};

double share_of(const std::vector<bool>& set);

struct GateLayer {
  int64_t layer = 0;
  int64_t heads = 0, width = 0;  // width: values per head
  Distribution values = {};
  Moments first = {}, others = {};
  std::vector<GateHead> by_head = {};
  std::vector<Moments> by_position = {};
  std::vector<GateUnit> by_sequence = {};
  std::array<std::vector<Moments>, 2> channels = {};  // [heads · width], of every other sequence
  Estimate first_ratio = {};                          // others / first; NaN if the first is nearly 0 or below

  // Of all sequences, or of one half of them.
  ChannelSets channel_sets() const;
  ChannelSets channel_sets(size_t half) const;
  std::vector<Moments> all_channels() const;
};

ChannelSets sets_of(std::span<const Moments> channels);

// [N, heads, width]. Returns the mean of each token and head, [N, heads].
std::vector<float> add_gate_values(GateLayer& layer, const Tensor& value, const Sequences& sequences);

// A gate position of a model: the layers that have it.
struct GateMeasure {
  std::string_view position;  // "g1"
  std::vector<GateLayer> layers = {};
  // Over all layers; intervals over sequences.
  Estimate mean = {};
  Estimate first_ratio = {}, first_difference = {};  // others / first, first - others

  // Over all layers.
  Distribution values() const;
  Moments first() const;
  Moments others() const;
};

}  // namespace sluice
