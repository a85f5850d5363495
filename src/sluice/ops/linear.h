// Linear layer.
#pragma once

#include "sluice/ops/tape.h"

namespace sluice {

// y[N, M] = x[N, K] · weight[M, K]ᵀ (+ bias[M]). A default Var is no bias.
// A weight in bf16 is for inference: the input is rounded to bf16 as well, sums and result are f32.
Var linear(const Context& context, const Var& x, const Var& weight, const Var& bias = {});

}  // namespace sluice
