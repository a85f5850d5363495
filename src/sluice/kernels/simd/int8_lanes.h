// Dot products of int8 in vectors of int32 sums, one output per lane. Highway 1.0 has no such operation, so
// here are the instructions themselves.
#pragma once

#include "sluice/kernels/int8.h"
#include "sluice/kernels/intrinsics.h"
#include "sluice/kernels/simd/lanes.h"

namespace sluice::SLUICE_SIMD_NAMESPACE {
namespace {

using Int32Tag = hn::RebindToSigned<Tag>;
using Int32s = hn::Vec<Int32Tag>;

// nearest_integers: not hn::NearestInt, for the reason that lanes.h gives; ties go to even.
// WeightWords: one word of four int8 for each lane, ready to be multiplied. The instruction takes one side
// unsigned: that is the weight's magnitude, and its sign goes over to the other side. Two products of 127 ·
// 127 fit the 16 bits in between.
#if defined(__AVX512BW__)

HWY_INLINE Int32s nearest_integers(Vector x) {
  return {_mm512_cvtps_epi32(x.raw)};
}

struct WeightWords {
  __m512i magnitude;
  __mmask64 negative;
};

HWY_INLINE WeightWords load_weights(const int8_t* weight) {
  const __m512i words = _mm512_loadu_si512(weight);
  return {_mm512_abs_epi8(words), _mm512_movepi8_mask(words)};
}

// sum + four products in each lane; x is the same word for all.
HWY_INLINE Int32s multiply_add(Int32s sum, const WeightWords& weight, int32_t x) {
  const __m512i word = _mm512_set1_epi32(x);
  const __m512i turned = _mm512_mask_sub_epi8(word, weight.negative, _mm512_setzero_si512(), word);
  const __m512i pairs = _mm512_maddubs_epi16(weight.magnitude, turned);
  return {_mm512_add_epi32(sum.raw, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)))};
}

#elif defined(__AVX2__)

HWY_INLINE Int32s nearest_integers(Vector x) {
  return {_mm256_cvtps_epi32(x.raw)};
}

struct WeightWords {
  __m256i words, magnitude;
};

HWY_INLINE WeightWords load_weights(const int8_t* weight) {
  const __m256i words = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(weight));
  return {words, _mm256_abs_epi8(words)};
}

// sum + four products in each lane; x is the same word for all.
HWY_INLINE Int32s multiply_add(Int32s sum, const WeightWords& weight, int32_t x) {
  const __m256i turned = _mm256_sign_epi8(_mm256_set1_epi32(x), weight.words);
  const __m256i pairs = _mm256_maddubs_epi16(weight.magnitude, turned);
  return {_mm256_add_epi32(sum.raw, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)))};
}

#endif

}  // namespace
}  // namespace sluice::SLUICE_SIMD_NAMESPACE
