// The plain layers of a decoder block: parameters and the op that uses them.
#pragma once

#include "sluice/nn/tap.h"
#include "sluice/ops/feed_forward.h"
#include "sluice/ops/rms_norm.h"

namespace sluice {

struct Linear {
  Parameter weight;     // [out, in]
  Parameter bias = {};  // [out]; undefined: none

  LinearWeights weights(const Context& context) {
    return {.weight = use(context, weight),
            .bias = bias.value.defined() ? use(context, bias) : Var(),
            .int8 = weight.int8};
  }

  // Less than f32: what is computed around it need not be more precise than bf16.
  bool is_narrow() const { return weight.int8 != nullptr || weight.value.dtype() == DType::BF16; }

  Var apply(const Context& context, const Var& x) { return linear(context, x, weights(context)); }
};

struct Norm {
  Parameter weight;  // [width]; undefined: the norm is left out
  NormOptions options = {};

  bool present() const { return weight.value.defined(); }

  Var apply(const Context& context, const Var& x) {
    return present() ? rms_norm(context, x, use(context, weight), options) : x;
  }
};

// down(silu(gate(x)) · up(x))
struct Mlp {
  Linear gate, up, down;

  // Added to a residual unless that is a default Var.
  Var apply(const Context& context, const Var& x, const Var& residual = {}) {
    return feed_forward(
        context, x, {.gate = gate.weights(context), .up = up.weights(context), .down = down.weights(context)},
        residual);
  }
};

}  // namespace sluice
