// Matrix product in bf16 with sums in f32, spread over all threads. Operands are packed on the way, f32 ones
// rounded.
#pragma once

#include "sluice/ops/context.h"

namespace sluice {

struct Bf16Product {
  int64_t m = 0, n = 0, k = 0;
  Tensor a;  // F32 or BF16: [m, k], or [k, m] if transposed
  Transpose a_transpose = Transpose::No;
  Tensor b;  // F32 or BF16: [k, n], or [n, k] if transposed
  Transpose b_transpose = Transpose::No;
  float* c = nullptr;  // [m, n]
  Output output = Output::Overwrite;
};

void bf16_matmul(const Context& context, const Bf16Product& product);

}  // namespace sluice
