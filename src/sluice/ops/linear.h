// Linear layers.
#pragma once

#include <span>
#include <vector>

#include "sluice/ops/weight.h"

namespace sluice {

struct LinearWeights {
  Weight weight;  // [M, K]
  Var bias = {};  // [M]; a default Var is none
};

// y[N, M] = x[N, K] · weight[M, K]ᵀ (+ bias[M]). With a narrow weight, which has no gradient, the input is
// rounded or quantised as well; sums and result are f32. The input's gradient passes bf16, not int8.
Var linear(const Context& context, const Var& x, const LinearWeights& weights);

// residual[N, M] + linear(x), without the pass over memory that an addition afterwards would take.
Var add_linear(const Context& context, const Var& residual, const Var& x, const LinearWeights& weights);

// Layers that share an input: it is packed or quantised once for the values of all of them, and packed once
// more for the gradients of their weights.
std::vector<Var> linears(const Context& context, const Var& x, std::span<const LinearWeights> layers);

}  // namespace sluice
