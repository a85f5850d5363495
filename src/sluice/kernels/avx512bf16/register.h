// What CPUs with VNNI and BF16 beside AVX-512 do better (Cooper Lake, Sapphire Rapids, Zen 4): products of
// int8 and of bf16. Everything else is that of AVX-512. As in simd/, nothing with external linkage may be
// defined outside the namespace.
#pragma once

#include "sluice/kernels/table.h"

namespace sluice::avx512bf16 {

void add_int8(Kernels<float>& table);
void add_tiles(Kernels<float>& table);

// PeakKernels::bf16_products.
int64_t bf16_multiply_add(int64_t rounds, float* sink);

}  // namespace sluice::avx512bf16
