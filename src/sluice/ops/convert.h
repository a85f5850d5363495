// Between f32 and the storage type bf16.
#pragma once

#include "sluice/ops/context.h"

namespace sluice {

// A copy of x in another dtype: f32 or f64 to bf16 (to nearest, ties to even), or bf16 to f32 or f64 (exact).
// Not recorded on the tape: f32 master weights stay what is trained.
Tensor convert(const Context& context, const Tensor& x, DType dtype);

}  // namespace sluice
