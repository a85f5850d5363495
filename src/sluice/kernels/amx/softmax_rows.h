// The running softmax over rows of scores, in powers of two: 2^(log2 e · x) costs one multiplication less.
#pragma once

#include "sluice/kernels/amx/bf16_rows.h"
#include "sluice/kernels/simd/attention_output.h"

namespace sluice::SLUICE_SIMD_NAMESPACE {
namespace {

// RunningSoftmax with scores times log2 e.
struct PowerSoftmax {
  float top = -kInfinity;
  float sum = 0;
  float first = 0;
  float weighted = 0;

  RunningSoftmax natural() const { return {top * kLn2, sum, first * kLn2, weighted * kLn2}; }
};

// Scores of a query that are not scaled yet.
struct PowerRow {
  const float* scores;
  int64_t count;
  int64_t padded;  // whole groups of 32
  float factor;    // scale · log2 e
};

HWY_INLINE void clear_probs(Bf16* probs, int64_t count) {
  for (int64_t i = 0; i < count; i += kTileDepth) _mm512_storeu_si512(probs + i, _mm512_setzero_si512());
}

// probs = 2^(factor · score - base), zeros behind the last score. Returns their sum before rounding.
HWY_INLINE float take_powers(const PowerRow& row, float base, Bf16* probs) {
  const auto power = [&](int64_t i) {
    const __m512 scores = _mm512_loadu_ps(row.scores + i);
    return exp2(_mm512_fmsub_ps(_mm512_set1_ps(row.factor), scores, _mm512_set1_ps(base)));
  };
  __m512 even = _mm512_setzero_ps(), odd = _mm512_setzero_ps();
  const auto take = [&](int64_t i, __m512 lower, __m512 upper) {
    even = _mm512_add_ps(even, lower);
    odd = _mm512_add_ps(odd, upper);
    store_bf16_row(lower, upper, probs + i);
  };
  int64_t i = 0;
  for (; i + kTileDepth <= row.count; i += kTileDepth) take(i, power(i), power(i + kTileRows));
  if (i < row.count) {
    const int64_t left = row.count - i;
    take(i, _mm512_maskz_mov_ps(first_lanes(left), power(i)),
         _mm512_maskz_mov_ps(first_lanes(left - kTileRows), power(i + kTileRows)));
    i += kTileDepth;
  }
  clear_probs(probs + i, row.padded - i);
  return _mm512_reduce_add_ps(_mm512_add_ps(even, odd));
}

// The sum of 2^x · x with x = factor · score - base.
inline float weighted_powers(const PowerRow& row, float base) {
  return sum(row.count, [&](int64_t i, auto part, Vector total) {
    // Of a score of -inf nothing is left, not 0 · inf.
    const Vector x =
        hn::Max(hn::MulSub(set(row.factor), load(row.scores + i, part), set(base)), set(-kLargestFloat));
    return hn::Add(total, pad(hn::Mul(Vector{exp2(x.raw)}, x), 0.0F, part));
  });
}

enum class Entropy { Unwanted, Wanted };

// Takes a row in and writes its probabilities, relative to the new top. Returns the factor for what was
// summed up under the old top.
HWY_INLINE float take_row(PowerSoftmax& softmax, const PowerRow& row, Entropy entropy, Bf16* probs) {
  const float here = largest(
      row.count, [&](int64_t i, auto part) { return hn::Mul(set(row.factor), load(row.scores + i, part)); });
  const float top = here > softmax.top ? here : softmax.top;
  // While all scores are -inf, any number may be subtracted from them but -inf itself.
  const float base = top == -kInfinity ? 0.0F : top;
  const float correction = _mm512_cvtss_f32(exp2(_mm512_set1_ps(softmax.top - base)));
  if (entropy == Entropy::Wanted) {
    const float moved = softmax.sum > 0 ? softmax.weighted + softmax.sum * (softmax.top - top) : 0.0F;
    softmax.weighted = correction * moved + weighted_powers(row, base);
  }
  softmax.top = top;
  softmax.sum = softmax.sum * correction + take_powers(row, base, probs);
  return correction;
}

}  // namespace
}  // namespace sluice::SLUICE_SIMD_NAMESPACE
