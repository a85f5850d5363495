// Products of a 2 × 2 block of tiles, 32 × 32 sums: what both passes of attention are made of.
#pragma once

#include "sluice/kernels/amx/tile_config.h"
#include "sluice/kernels/tiles.h"

namespace sluice::SLUICE_SIMD_NAMESPACE {
namespace {

// Two strips of an operand; `step` elements further follow their next 32 of depth.
struct TilePairs {
  const Bf16* first;
  const Bf16* second;
  int64_t row_bytes;
  int64_t step;
};

// Where the sums of a block lie.
struct SumBlock {
  float* first;
  int64_t row_bytes;
  int64_t down, right;  // elements to the tile below, and to the one on the right
};

// tmm0 … tmm3 hold the sums of rows 0, 0, 1, 1 and columns 0, 1, 0, 1.
inline void clear_sums() {
  asm volatile(
      "tilezero %%tmm0\n\t"
      "tilezero %%tmm1\n\t"
      "tilezero %%tmm2\n\t"
      "tilezero %%tmm3" ::
          : "memory");
}

inline void load_sums(const SumBlock& sums) {
  asm volatile(
      "tileloadd (%0,%4,1), %%tmm0\n\t"
      "tileloadd (%1,%4,1), %%tmm1\n\t"
      "tileloadd (%2,%4,1), %%tmm2\n\t"
      "tileloadd (%3,%4,1), %%tmm3" ::"r"(sums.first),
      "r"(sums.first + sums.right), "r"(sums.first + sums.down), "r"(sums.first + sums.down + sums.right),
      "r"(sums.row_bytes)
      : "memory");
}

inline void store_sums(const SumBlock& sums) {
  asm volatile(
      "tilestored %%tmm0, (%0,%4,1)\n\t"
      "tilestored %%tmm1, (%1,%4,1)\n\t"
      "tilestored %%tmm2, (%2,%4,1)\n\t"
      "tilestored %%tmm3, (%3,%4,1)" ::"r"(sums.first),
      "r"(sums.first + sums.right), "r"(sums.first + sums.down), "r"(sums.first + sums.down + sums.right),
      "r"(sums.row_bytes)
      : "memory");
}

// Each product begins as soon as its operands are there; the unit never waits for all four loads.
inline void multiply_step(const TilePairs& a, const TilePairs& b, int64_t step) {
  asm volatile(
      "tileloadd (%2,%5,1), %%tmm6\n\t"
      "tileloadd (%0,%4,1), %%tmm4\n\t"
      "tdpbf16ps %%tmm6, %%tmm4, %%tmm0\n\t"
      "tileloadd (%3,%5,1), %%tmm7\n\t"
      "tdpbf16ps %%tmm7, %%tmm4, %%tmm1\n\t"
      "tileloadd (%1,%4,1), %%tmm5\n\t"
      "tdpbf16ps %%tmm6, %%tmm5, %%tmm2\n\t"
      "tdpbf16ps %%tmm7, %%tmm5, %%tmm3" ::"r"(a.first + step * a.step),
      "r"(a.second + step * a.step), "r"(b.first + step * b.step), "r"(b.second + step * b.step),
      "r"(a.row_bytes), "r"(b.row_bytes)
      : "memory");
}

// sums = a · bᵀ over `steps` times 32 of depth.
inline void multiply(const TilePairs& a, const TilePairs& b, int64_t steps, const SumBlock& sums) {
  clear_sums();
  for (int64_t p = 0; p < steps; ++p) multiply_step(a, b, p);
  store_sums(sums);
}

// The same, added to what the sums were.
inline void multiply_add(const TilePairs& a, const TilePairs& b, int64_t steps, const SumBlock& sums) {
  load_sums(sums);
  for (int64_t p = 0; p < steps; ++p) multiply_step(a, b, p);
  store_sums(sums);
}

}  // namespace
}  // namespace sluice::SLUICE_SIMD_NAMESPACE
