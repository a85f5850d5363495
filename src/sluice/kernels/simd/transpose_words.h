// Words of 32 bits, 8 × 8 of them turned at a time.
#pragma once

#include "sluice/kernels/simd/lanes.h"

namespace sluice::SLUICE_SIMD_NAMESPACE {
namespace {

// 8 × 8 words, which AVX2 and AVX-512 alike have the shuffles for.
using EightWords = hn::FixedTag<uint32_t, 8>;
using FourPairs = hn::FixedTag<uint64_t, 4>;

// Columns of four rows: part[c] holds column c in its lower half and column c + 4 in its upper one.
HWY_INLINE void turn_four_rows(const uint32_t* rows, int64_t stride, hn::Vec<EightWords> (&part)[4]) {
  const EightWords d{};
  const FourPairs pairs{};
  const auto row = [&](int64_t r) { return hn::LoadU(d, rows + r * stride); };
  const auto join = [&](auto a, auto b, int64_t c) {
    const auto x = hn::BitCast(pairs, a), y = hn::BitCast(pairs, b);
    part[c] = hn::BitCast(d, hn::InterleaveLower(pairs, x, y));
    part[c + 1] = hn::BitCast(d, hn::InterleaveUpper(pairs, x, y));
  };
  join(hn::InterleaveLower(d, row(0), row(1)), hn::InterleaveLower(d, row(2), row(3)), 0);
  join(hn::InterleaveUpper(d, row(0), row(1)), hn::InterleaveUpper(d, row(2), row(3)), 2);
}

// Strides are the distances of two rows.
HWY_INLINE void transpose_eight(const uint32_t* from, int64_t from_stride, uint32_t* to, int64_t to_stride) {
  const EightWords d{};
  hn::Vec<EightWords> above[4], below[4];
  turn_four_rows(from, from_stride, above);
  turn_four_rows(from + 4 * from_stride, from_stride, below);
  HWY_UNROLL(4)
  for (int64_t c = 0; c < 4; ++c) {
    hn::StoreU(hn::ConcatLowerLower(d, below[c], above[c]), d, to + c * to_stride);
    hn::StoreU(hn::ConcatUpperUpper(d, below[c], above[c]), d, to + (c + 4) * to_stride);
  }
}

}  // namespace
}  // namespace sluice::SLUICE_SIMD_NAMESPACE
