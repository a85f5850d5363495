// What the folder simd/ offers, once per instruction set that it is built for.
#pragma once

#include "sluice/kernels/peak.h"
#include "sluice/kernels/table.h"

namespace sluice {

namespace simd_avx2 {
void fill(Kernels<float>& table);
PeakKernels peak();
}  // namespace simd_avx2

namespace simd_avx512 {
void fill(Kernels<float>& table);
PeakKernels peak();
void attention_forward(const AttentionForward<float>& args, int64_t unit, float* workspace);
void attention_backward(const AttentionBackward<float>& args, int64_t unit, float* workspace);
}  // namespace simd_avx512

// Vectors of AVX-512 with conversion to bf16, beside tiles.
namespace simd_amx {
void attention_forward(const AttentionForward<float>& args, int64_t unit, float* workspace);
void attention_backward(const AttentionBackward<float>& args, int64_t unit, float* workspace);
}  // namespace simd_amx

}  // namespace sluice
