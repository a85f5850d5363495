// Matrix product in bf16 with sums in f32, spread over all threads. Operands are packed on the way, f32 ones
// rounded.
#pragma once

#include "sluice/ops/packed_matrix.h"

namespace sluice {

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
