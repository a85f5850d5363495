// The plain layers of a decoder block: parameters and the op that uses them.
#pragma once

#include "sluice/nn/tap.h"
#include "sluice/ops/linear.h"
#include "sluice/ops/rms_norm.h"
#include "sluice/ops/swiglu.h"

namespace sluice {

struct Linear {
  Parameter weight;     // [out, in]
  Parameter bias = {};  // [out]; undefined: none

  Var apply(const Context& context, const Var& x) {
    const Var no_bias;
    return linear(context, x, use(context, weight), bias.value.defined() ? use(context, bias) : no_bias);
  }
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

  Var apply(const Context& context, const Var& x) {
    return down.apply(context, swiglu(context, gate.apply(context, x), up.apply(context, x)));
  }
};

}  // namespace sluice
