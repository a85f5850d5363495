// Token embedding.
#pragma once

#include "sluice/ops/tape.h"

namespace sluice {

// y[N, D] = table[V, D] at ids[N] (i32). Every id must lie in [0, V).
// A table in bf16 is for inference and gives f32.
Var embedding(const Context& context, const Var& table, const Tensor& ids);

}  // namespace sluice
