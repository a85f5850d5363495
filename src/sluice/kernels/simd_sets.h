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
}  // namespace simd_avx512

}  // namespace sluice
