// Bounded by the tile unit, for which a product of two tiles is 16 cycles. A block of 2 × 2 sums loads four
// tiles for four products, 64 lines for 64 cycles: more than a second-level cache gives in practice, so one
// operand has to come from the first (kDepthTiles). With rounding, packing and writing of sums, products
// reach 0.2 to 0.4 of the unit's peak (docs/kernels.md).
#include "sluice/kernels/amx/tiles.h"

#include "sluice/kernels/amx/tile_config.h"

namespace sluice::amx {
namespace {

constexpr int64_t kSums = kTileRows * kTileRows;

// Two strips of each operand: tile p of strip s is at first + s · strip + p · kTileElements.
struct Strips {
  const Bf16* first;
  int64_t strip;  // elements from one strip to the next
};

// tmm0 … tmm3 hold the sums of rows 0, 0, 1, 1 and columns 0, 1, 0, 1.
void load_sums(const float* sums, int64_t row) {
  asm volatile(
      "tileloadd (%0,%2,1), %%tmm0\n\t"
      "tileloadd 1024(%0,%2,1), %%tmm1\n\t"
      "tileloadd (%1,%2,1), %%tmm2\n\t"
      "tileloadd 1024(%1,%2,1), %%tmm3" ::"r"(sums),
      "r"(sums + row), "r"(kRowBytes)
      : "memory");
}

void store_sums(float* sums, int64_t row) {
  asm volatile(
      "tilestored %%tmm0, (%0,%2,1)\n\t"
      "tilestored %%tmm1, 1024(%0,%2,1)\n\t"
      "tilestored %%tmm2, (%1,%2,1)\n\t"
      "tilestored %%tmm3, 1024(%1,%2,1)" ::"r"(sums),
      "r"(sums + row), "r"(kRowBytes)
      : "memory");
}

void clear_sums() {
  asm volatile(
      "tilezero %%tmm0\n\t"
      "tilezero %%tmm1\n\t"
      "tilezero %%tmm2\n\t"
      "tilezero %%tmm3" ::
          : "memory");
}

void multiply_pairs(const Strips& a, const Strips& b, int64_t tiles) {
  const Bf16* a0 = a.first;
  const Bf16* a1 = a.first + a.strip;
  const Bf16* b0 = b.first;
  const Bf16* b1 = b.first + b.strip;
  for (int64_t p = 0; p < tiles; ++p) {
    // Each product begins as soon as its operands are there; the unit never waits for all four loads.
    asm volatile(
        "tileloadd (%2,%4,1), %%tmm6\n\t"
        "tileloadd (%0,%4,1), %%tmm4\n\t"
        "tdpbf16ps %%tmm6, %%tmm4, %%tmm0\n\t"
        "tileloadd (%3,%4,1), %%tmm7\n\t"
        "tdpbf16ps %%tmm7, %%tmm4, %%tmm1\n\t"
        "tileloadd (%1,%4,1), %%tmm5\n\t"
        "tdpbf16ps %%tmm6, %%tmm5, %%tmm2\n\t"
        "tdpbf16ps %%tmm7, %%tmm5, %%tmm3" ::"r"(a0),
        "r"(a1), "r"(b0), "r"(b1), "r"(kRowBytes)
        : "memory");
    a0 += kTileElements;
    a1 += kTileElements;
    b0 += kTileElements;
    b1 += kTileElements;
  }
}

}  // namespace

void tile_sums(const TileOperands& args, const TileUnit& unit, float* workspace) {
  const int64_t tiles = tiles_of_depth(args.depth);
  const int64_t strip = tiles * kTileElements;
  const int64_t row = (unit.b_end - unit.b_begin) * kStripsPerPair * kSums;  // sums of a strip of A
  begin_tiles();
  for (int64_t p = 0; p < tiles || p == 0; p += kDepthTiles) {
    const int64_t depth = tiles - p < kDepthTiles ? tiles - p : kDepthTiles;
    for (int64_t i = unit.a_begin; i < unit.a_end; ++i) {
      for (int64_t j = unit.b_begin; j < unit.b_end; ++j) {
        float* sums = workspace + (i - unit.a_begin) * kStripsPerPair * row +
                      (j - unit.b_begin) * kStripsPerPair * kSums;
        if (p == 0) {
          clear_sums();
        } else {
          load_sums(sums, row);
        }
        multiply_pairs({args.a + i * kStripsPerPair * strip + p * kTileElements, strip},
                       {args.b + j * kStripsPerPair * strip + p * kTileElements, strip}, depth);
        store_sums(sums, row);
      }
    }
  }
  end_tiles();
}

}  // namespace sluice::amx
