// The feed-forward half of a block.
#pragma once

#include "sluice/ops/linear.h"

namespace sluice {

struct FeedForwardWeights {
  LinearWeights gate, up, down;
};

// down(silu(gate(x)) · up(x)), added to a residual unless that is a default Var.
// Without a tape and in bf16, what lies between the products exists only as packed operands.
Var feed_forward(const Context& context, const Var& x, const FeedForwardWeights& weights,
                 const Var& residual = {});

}  // namespace sluice
