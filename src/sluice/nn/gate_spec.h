// What a gate is: the axes of the family. One row of a model's list of gates.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sluice/kernels/gate.h"
#include "sluice/nn/gate_position.h"

namespace sluice {

// What the scores are computed from: the block's normed input, a learned constant, or the input's first
// channels.
enum class GateInput { Token, Constant, Truncated };

// Queries and keys are normed and rotated; a gate on them comes after that, or before.
enum class GateOrder { AfterRope, BeforeNorm };

struct GateSpec {
  GatePosition position = GatePosition::G1;
  GateForm form = {};
  GateInput input = GateInput::Token;
  int64_t channels = 0;  // input channels of a truncated gate
  GateOrder order = GateOrder::AfterRope;
  std::vector<int64_t> layers = {};  // empty: all
  double init_std = 0.02;            // 0: the weight starts at zero
  bool bias = false;
  double bias_init = 0.0;

  bool in_layer(int64_t layer) const {
    return layers.empty() || std::ranges::find(layers, layer) != layers.end();
  }

  bool operator==(const GateSpec&) const = default;
};

}  // namespace sluice
