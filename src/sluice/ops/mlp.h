// The gated multi-layer perceptron of a block.
#pragma once

#include "sluice/ops/linear.h"

namespace sluice {

struct MlpWeights {
  LinearWeights gate, up, down;
};

// down(silu(gate(x)) · up(x)), added to a residual unless that is a default Var.
// Without a tape and in bf16, what lies between the products exists only as packed operands.
Var mlp(const Context& context, const Var& x, const MlpWeights& weights, const Var& residual = {});

}  // namespace sluice
