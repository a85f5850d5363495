// The product that attention and gemm are made of: a block of sums that stays in registers.
#pragma once

#include "sluice/kernels/gemm.h"
#include "sluice/kernels/simd/lanes.h"

namespace sluice::SLUICE_SIMD_NAMESPACE {
namespace {

template <class T>
struct Rows {
  T* data;
  int64_t stride;

  T* at(int64_t row) const { return data + row * stride; }
  Rows from(int64_t row) const { return {at(row), stride}; }
  Rows column(int64_t first) const { return {data + first, stride}; }
};
using ConstRows = Rows<const float>;
using MutableRows = Rows<float>;

inline ConstRows readable(MutableRows rows) {
  return {rows.data, rows.stride};
}

// The sums, two vectors of B and one of A take 15 of AVX2's 16 registers, 27 of AVX-512's 32.
constexpr int64_t kCols = 2 * kLanes;
constexpr int64_t kRows = kLanes == 16 ? 12 : 6;

// The operand whose elements are broadcast: as stored, or its transpose.
struct ByRows {
  ConstRows rows;
  float at(int64_t row, int64_t depth) const { return rows.data[row * rows.stride + depth]; }
};
struct ByColumns {
  ConstRows rows;
  float at(int64_t row, int64_t depth) const { return rows.data[depth * rows.stride + row]; }
};

// Unrolled on purpose: sums that a loop indexes stay in memory, and -O2 alone does not unroll.
// c[kRows, kCols] = a[kRows, depth] · b[depth, kCols], or added to c.
template <Output output, class A>
HWY_INLINE void multiply(const A a, const ConstRows b, int64_t depth, const MutableRows c) {
  Vector total[kRows][2];
  HWY_UNROLL(12)
  for (int64_t r = 0; r < kRows; ++r) {
    HWY_UNROLL(2)
    for (int64_t v = 0; v < 2; ++v) {
      total[r][v] = output == Output::Accumulate ? load(c.at(r) + v * kLanes, Full{}) : hn::Zero(tag);
    }
  }
  for (int64_t p = 0; p < depth; ++p) {
    const Vector b0 = load(b.at(p), Full{});
    const Vector b1 = load(b.at(p) + kLanes, Full{});
    HWY_UNROLL(12)
    for (int64_t r = 0; r < kRows; ++r) {
      const Vector factor = set(a.at(r, p));
      total[r][0] = hn::MulAdd(factor, b0, total[r][0]);
      total[r][1] = hn::MulAdd(factor, b1, total[r][1]);
    }
  }
  HWY_UNROLL(12)
  for (int64_t r = 0; r < kRows; ++r) {
    HWY_UNROLL(2)
    for (int64_t v = 0; v < 2; ++v) store(total[r][v], c.at(r) + v * kLanes, Full{});
  }
}

}  // namespace
}  // namespace sluice::SLUICE_SIMD_NAMESPACE
