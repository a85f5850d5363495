// Bounded by multiply-adds. Both operands are widened to f32 beforehand: converting B between the
// multiply-adds took a sixth of their rate (docs/kernels.md).
#include "sluice/kernels/tiles.h"

#include "sluice/kernels/simd/bf16_lanes.h"
#include "sluice/kernels/simd/register.h"
#include "sluice/kernels/simd/tile_words.h"

namespace sluice::SLUICE_SIMD_NAMESPACE {
namespace {

// Vectors of a tile's 16 columns.
constexpr int64_t kVectors = kTileRows / kLanes;
constexpr int64_t kSums = kTileRows * kTileRows;

// A strip of either operand in f32: [depth, 16].
constexpr int64_t kWideStrip = kWideTiles * kTileElements;

HWY_INLINE void widen_words(const uint32_t* words, float* wide) {
  for (int64_t i = 0; i < kTileRows; i += kLanes) {
    const auto both = hn::Load(Bits{}, words + i);
    hn::Store(lower_halves(both), tag, wide + i);
    hn::Store(upper_halves(both), tag, wide + kTileRows + i);
  }
}

void widen_b(const Bf16* tiles, int64_t count, float* wide) {
  for (int64_t row = 0; row < count * kTileRows; ++row)
    widen_words(reinterpret_cast<const uint32_t*>(tiles + row * kTileDepth), wide + row * kTileDepth);
}

void widen_a(const Bf16* tiles, int64_t count, float* wide) {
  for (int64_t p = 0; p < count; ++p) {
    alignas(64) Words turned;
    transpose_words(*reinterpret_cast<const Words*>(tiles + p * kTileElements), turned);
    for (int64_t row = 0; row < kTileRows; ++row)
      widen_words(turned[row], wide + p * kTileElements + row * kTileDepth);
  }
}

// sums[kRows][16] += rows of A · a strip of B
// Unrolled on purpose: sums that a loop indexes stay in memory, and -O2 alone does not unroll.
template <int64_t kRows>
HWY_INLINE void multiply_rows(const float* a, const float* b, int64_t depth, float* sums) {
  Vector total[kRows][kVectors];
  HWY_UNROLL(16)
  for (int64_t r = 0; r < kRows; ++r) {
    HWY_UNROLL(4)
    for (int64_t v = 0; v < kVectors; ++v) total[r][v] = load(sums + r * kTileRows + v * kLanes, Full{});
  }
  for (int64_t d = 0; d < depth; ++d) {
    Vector row[kVectors];
    HWY_UNROLL(4)
    for (int64_t v = 0; v < kVectors; ++v) row[v] = hn::Load(tag, b + d * kTileRows + v * kLanes);
    HWY_UNROLL(16)
    for (int64_t r = 0; r < kRows; ++r) {
      const Vector factor = set(a[d * kTileRows + r]);
      HWY_UNROLL(4)
      for (int64_t v = 0; v < kVectors; ++v) total[r][v] = hn::MulAdd(factor, row[v], total[r][v]);
    }
  }
  HWY_UNROLL(16)
  for (int64_t r = 0; r < kRows; ++r) {
    HWY_UNROLL(4)
    for (int64_t v = 0; v < kVectors; ++v) store(total[r][v], sums + r * kTileRows + v * kLanes, Full{});
  }
}

// 12 sums, two vectors of B and one of A fill the 16 registers of AVX2.
HWY_INLINE void multiply_strips(const float* a, const float* b, int64_t depth, float* sums) {
  // One vector is a whole row of sums: all 16 fit the 32 registers of AVX-512.
  if constexpr (kVectors == 1) return multiply_rows<kTileRows>(a, b, depth, sums);
  multiply_rows<6>(a, b, depth, sums);
  multiply_rows<5>(a + 6, b, depth, sums + 6 * kTileRows);
  multiply_rows<5>(a + 11, b, depth, sums + 11 * kTileRows);
}

void tile_sums(const TileOperands& args, const TileUnit& unit, float* workspace) {
  const int64_t tiles = tiles_of_depth(args.depth);
  const int64_t a_strips = a_strips_of(unit);
  const int64_t b_strips = (unit.b_end - unit.b_begin) * kStripsPerPair;
  const Bf16* a = args.a + unit.a_begin * kStripsPerPair * tiles * kTileElements;
  const Bf16* b = args.b + unit.b_begin * kStripsPerPair * tiles * kTileElements;
  float* sums = workspace;
  float* wide_a = sums + a_strips * b_strips * kSums;  // [a_strips, kWideStrip]
  float* wide_b = wide_a + a_strips * kWideStrip;
  clear(sums, a_strips * b_strips * kSums);
  for (int64_t p = 0; p < tiles; p += kWideTiles) {
    const int64_t count = tiles - p < kWideTiles ? tiles - p : kWideTiles;
    for (int64_t i = 0; i < a_strips; ++i)
      widen_a(a + (i * tiles + p) * kTileElements, count, wide_a + i * kWideStrip);
    for (int64_t j = 0; j < b_strips; ++j) {
      widen_b(b + (j * tiles + p) * kTileElements, count, wide_b);
      for (int64_t i = 0; i < a_strips; ++i)
        multiply_strips(wide_a + i * kWideStrip, wide_b, count * kTileDepth,
                        sums + (i * b_strips + j) * kSums);
    }
  }
}

}  // namespace

void add_tiles(Kernels<float>& table) {
  table.tile_sums = tile_sums;
}

}  // namespace sluice::SLUICE_SIMD_NAMESPACE
