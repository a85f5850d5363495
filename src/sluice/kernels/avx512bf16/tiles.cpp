// Two products per lane and instruction (vdpbf16ps), straight from the tiles: a row of a B tile is one
// vector, and a word of A is the same for all its lanes. Bounded by multiply-adds. Not measured: no machine
// with it was at hand, see docs/kernels.md.
// The instruction takes denormals for zero, and rounds the two products it adds in its own way: results
// differ from those of other sets in the last bits of a sum.
#include "sluice/kernels/tiles.h"

#include <cstring>

#include "sluice/kernels/avx512bf16/register.h"
#include "sluice/kernels/intrinsics.h"

namespace sluice::avx512bf16 {
namespace {

constexpr int64_t kSums = kTileRows * kTileRows;

inline __attribute__((always_inline)) __m512bh broadcast_word(const Bf16* word) {
  int32_t bits;
  std::memcpy(&bits, word, sizeof bits);
  return reinterpret_cast<__m512bh>(_mm512_set1_epi32(bits));
}

// sums[16][16] += a strip of A · a strip of B, both at the tile to begin with. All 16 rows of sums are in
// registers, which is half of them.
// Unrolled on purpose: sums that a loop indexes stay in memory, and -O2 alone does not unroll.
void multiply_strips(const Bf16* a, const Bf16* b, int64_t tiles, float* sums) {
  __m512 total[kTileRows];
#pragma GCC unroll 16
  for (int64_t r = 0; r < kTileRows; ++r) total[r] = _mm512_load_ps(sums + r * kTileRows);
  for (int64_t p = 0; p < tiles; ++p) {
    for (int64_t pair = 0; pair < kTileRows; ++pair) {
      const auto words =
          reinterpret_cast<__m512bh>(_mm512_loadu_si512(b + p * kTileElements + pair * kTileDepth));
      const Bf16* column = a + p * kTileElements + 2 * pair;
#pragma GCC unroll 16
      for (int64_t r = 0; r < kTileRows; ++r)
        total[r] = _mm512_dpbf16_ps(total[r], words, broadcast_word(column + r * kTileDepth));
    }
  }
#pragma GCC unroll 16
  for (int64_t r = 0; r < kTileRows; ++r) _mm512_store_ps(sums + r * kTileRows, total[r]);
}

void tile_sums(const TileOperands& args, const TileUnit& unit, float* sums) {
  const int64_t tiles = tiles_of_depth(args.depth);
  const int64_t a_first = unit.a_begin * kStripsPerPair, a_end = a_first + a_strips_of(unit);
  const int64_t b_first = unit.b_begin * kStripsPerPair, b_end = unit.b_end * kStripsPerPair;
  const int64_t b_strips = b_end - b_first;
  for (int64_t i = 0; i < (a_end - a_first) * b_strips * kSums; ++i) sums[i] = 0.0F;
  for (int64_t p = 0; p < tiles; p += kDepthTiles) {
    const int64_t depth = tiles - p < kDepthTiles ? tiles - p : kDepthTiles;
    for (int64_t i = a_first; i < a_end; ++i) {
      for (int64_t j = b_first; j < b_end; ++j) {
        multiply_strips(args.a + (i * tiles + p) * kTileElements, args.b + (j * tiles + p) * kTileElements,
                        depth, sums + ((i - a_first) * b_strips + j - b_first) * kSums);
      }
    }
  }
}

}  // namespace

void add_tiles(Kernels<float>& table) {
  table.tile_sums = tile_sums;
}

}  // namespace sluice::avx512bf16
