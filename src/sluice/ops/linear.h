// Linear layer.
#pragma once

#include "sluice/ops/tape.h"

namespace sluice {

// y[N, M] = x[N, K] · weight[M, K]ᵀ (+ bias[M]). A default Var is no bias.
Var linear(const Context& context, const Var& x, const Var& weight, const Var& bias = {});

}  // namespace sluice
