// The plain layers of a block: parameters and the op that uses them.
#pragma once

#include "sluice/ops/linear.h"
#include "sluice/ops/rms_norm.h"

namespace sluice {

struct Linear {
  Parameter weight;     // [out, in]
  Parameter bias = {};  // [out]; undefined: none

  LinearWeights weights(const Context& context) const {
    return {.weight = weight_of(context, weight), .bias = bias.value.defined() ? use(context, bias) : Var()};
  }

  Var apply(const Context& context, const Var& x) const { return linear(context, x, weights(context)); }
};

struct Norm {
  Parameter weight;  // [width]; undefined: the norm is left out
  NormOptions options = {};

  bool present() const { return weight.value.defined(); }

  Var apply(const Context& context, const Var& x) const {
    return present() ? rms_norm(context, x, use(context, weight), options) : x;
  }
};

}  // namespace sluice
