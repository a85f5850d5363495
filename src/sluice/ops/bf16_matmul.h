// Matrix product in bf16 with sums in f32, spread over all threads. Operands are packed on the way, f32 ones
// rounded.
#pragma once

#include "sluice/ops/context.h"

namespace sluice {

// A stored matrix: one of the two pointers is set.
struct Bf16Operand {
  const float* f32 = nullptr;
  const Bf16* bf16 = nullptr;
  int64_t stride = 0;  // elements from one stored row to the next
  Transpose transpose = Transpose::No;
};

// C[m, n] = op(A)[m, k] · op(B)[k, n], or added to C.
struct Bf16Product {
  int64_t m = 0, n = 0, k = 0;
  Bf16Operand a, b;
  float* c = nullptr;
  int64_t c_stride = 0;
  Output output = Output::Overwrite;
};

void bf16_matmul(const Context& context, const Bf16Product& product);

}  // namespace sluice
