// Vectors of AVX-512 for attention on tiles: powers of two, and rows of bf16 out of f32. Intrinsics, since
// Highway has neither the conversion nor the exponent arithmetic.
#pragma once

#include <immintrin.h>

#include "sluice/kernels/attention_bf16.h"
#include "sluice/kernels/simd/lanes.h"

namespace sluice::SLUICE_SIMD_NAMESPACE {
namespace {

constexpr float kLog2E = 0x1.715476p0F;
constexpr float kLn2 = 0x1.62e43p-1F;

// The first n of 16 lanes: none for n <= 0, all for n >= 16.
HWY_INLINE __mmask16 first_lanes(int64_t n) {
  return static_cast<__mmask16>(n >= 16 ? 0xffffU : n <= 0 ? 0U : (1U << n) - 1U);
}

HWY_INLINE __m512 load_part(const float* x, int64_t n) {
  return _mm512_maskz_loadu_ps(first_lanes(n), x);
}

// 2^x: the fraction above floor(x) through a minimax fit of degree 5 with 2^0 = 1 (relative error 8e-8), the
// rest into the exponent. 0 where the result would not be normal, -inf among it; a NaN stays one.
HWY_INLINE __m512 exp2(__m512 x) {
  constexpr int kAboveFloor = 0x09;
  const __m512 r = _mm512_reduce_ps(x, kAboveFloor);
  __m512 power = _mm512_fmadd_ps(r, _mm512_set1_ps(0x1.e974fap-10F), _mm512_set1_ps(0x1.277856p-7F));
  power = _mm512_fmadd_ps(r, power, _mm512_set1_ps(0x1.c91ce6p-5F));
  power = _mm512_fmadd_ps(r, power, _mm512_set1_ps(0x1.ebdb56p-3F));
  power = _mm512_fmadd_ps(r, power, _mm512_set1_ps(0x1.62e4bap-1F));
  power = _mm512_fmadd_ps(r, power, _mm512_set1_ps(1.0F));
  const __mmask16 normal = _mm512_cmp_ps_mask(x, _mm512_set1_ps(-126.0F), _CMP_NLT_UQ);
  return _mm512_maskz_scalef_ps(normal, power, x);
}

// 32 elements of bf16, rounded to nearest even; what is not normal becomes 0.
HWY_INLINE __m512i to_bf16(__m512 lower, __m512 upper) {
  return (__m512i)_mm512_cvtne2ps_pbh(upper, lower);
}

HWY_INLINE void store_bf16_row(__m512 lower, __m512 upper, Bf16* row) {
  _mm512_storeu_si512(row, to_bf16(lower, upper));
}

// A row of a B tile: elements of the even and the odd depth in turn.
HWY_INLINE void store_woven(__m512 even, __m512 odd, Bf16* row) {
  alignas(64) static constexpr uint16_t kInTurn[32] = {0,  16, 1,  17, 2,  18, 3,  19, 4,  20, 5,
                                                       21, 6,  22, 7,  23, 8,  24, 9,  25, 10, 26,
                                                       11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
  _mm512_storeu_si512(row, _mm512_permutexvar_epi16(_mm512_load_si512(kInTurn), to_bf16(even, odd)));
}

// Elements of 32 bf16 that are NaN or infinite.
HWY_INLINE __mmask32 not_finite(__m512i bf16) {
  const __m512i exponent = _mm512_set1_epi16(0x7f80);
  return _mm512_cmpeq_epi16_mask(_mm512_and_si512(bf16, exponent), exponent);
}

// Whole rows of tiles, here and below.
inline bool all_finite(const Bf16* x, int64_t count) {
  __mmask32 found = 0;
  for (int64_t i = 0; i < count; i += kTileDepth) found |= not_finite(_mm512_loadu_si512(x + i));
  return found == 0;
}

// Zeros where x is not finite. The two may be the same.
inline void copy_finite(const Bf16* x, int64_t count, Bf16* y) {
  for (int64_t i = 0; i < count; i += kTileDepth) {
    const __m512i row = _mm512_loadu_si512(x + i);
    _mm512_storeu_si512(y + i, _mm512_maskz_mov_epi16(static_cast<__mmask32>(~not_finite(row)), row));
  }
}

}  // namespace
}  // namespace sluice::SLUICE_SIMD_NAMESPACE
