// Linear layers.
#pragma once

#include <span>
#include <vector>

#include "sluice/ops/tape.h"

namespace sluice {

struct LinearWeights {
  Var weight;     // [M, K]
  Var bias = {};  // [M]; a default Var is none
  // For inference: used instead of the weight, which may then be a default Var.
  std::shared_ptr<const Int8Matrix> int8 = nullptr;
};

// y[N, M] = x[N, K] · weight[M, K]ᵀ (+ bias[M]).
// A weight in bf16 is for inference: the input is rounded to bf16 as well, sums and result are f32.
Var linear(const Context& context, const Var& x, const LinearWeights& weights);

// residual[N, M] + linear(x), without the pass over memory that an addition afterwards would take.
Var add_linear(const Context& context, const Var& residual, const Var& x, const LinearWeights& weights);

// Layers that share an input, which in bf16 is packed once for all of them: for their values, and once more
// for the gradients of their weights.
std::vector<Var> linears(const Context& context, const Var& x, std::span<const LinearWeights> layers);

}  // namespace sluice
