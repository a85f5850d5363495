// One row of a tile's sums on its way to memory.
#pragma once

#include "sluice/kernels/simd/bf16_lanes.h"
#include "sluice/kernels/tiles.h"

namespace sluice::SLUICE_SIMD_NAMESPACE {
namespace {

// sums[16] are the columns of `strip`; those behind the last are dropped.
HWY_INLINE void store_row(const StoreSums<float>& args, int64_t row, int64_t strip, const float* sums) {
  const int64_t first = strip * kTileRows;
  const int64_t left = args.n - first;
  float* c = args.c + row * args.c_stride + first;
  const float* addend = args.addend == nullptr ? nullptr : args.addend + row * args.addend_stride + first;
  for_each_vector(0, left < kTileRows ? left : kTileRows, [&](int64_t i, auto part) {
    const Vector sum = load(sums + i, part);
    store(addend == nullptr ? sum : hn::Add(load(addend + i, part), sum), c + i, part);
  });
}

}  // namespace
}  // namespace sluice::SLUICE_SIMD_NAMESPACE
