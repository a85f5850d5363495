// Bounded by multiply-adds: of the words of B two vectors of f32 are made, which 5 or 6 rows of A then share.
#include "sluice/kernels/tiles.h"

#include "sluice/kernels/simd/bf16_lanes.h"
#include "sluice/kernels/simd/register.h"
#include "sluice/kernels/simd/tile_words.h"

namespace sluice::SLUICE_SIMD_NAMESPACE {
namespace {

// Vectors of a tile's 16 columns.
constexpr int64_t kVectors = kTileRows / kLanes;
constexpr int64_t kSums = kTileRows * kTileRows;

// Depth that is multiplied at once, in tiles: the strip of A is then 16 KiB of f32, half of a small first
// cache.
constexpr int64_t kSimdDepth = 8;
static_assert(kSimdDepth <= kDepthTiles, "the workspace is made for that");

// A strip of A in f32: [pairs of depth, 2, 16 rows]. The rows that are multiplied together lie together.
void widen_strip(const Bf16* tiles, int64_t count, float* wide) {
  const Bits bits{};
  for (int64_t p = 0; p < count; ++p) {
    alignas(64) Words turned;
    transpose_words(*reinterpret_cast<const Words*>(tiles + p * kTileElements), turned);
    for (int64_t pair = 0; pair < kTileRows; ++pair) {
      float* to = wide + p * kTileElements + pair * kTileDepth;
      for (int64_t r = 0; r < kTileRows; r += kLanes) {
        const auto words = hn::Load(bits, turned[pair] + r);
        hn::Store(lower_halves(words), tag, to + r);
        hn::Store(upper_halves(words), tag, to + kTileRows + r);
      }
    }
  }
}

// total[r] += x[r] · b
// Unrolled on purpose, here and below: sums that a loop indexes stay in memory, and -O2 alone does not
// unroll.
template <int64_t kRows>
HWY_INLINE void multiply_add(const float* x, const Vector (&b)[kVectors], Vector (&total)[kRows][kVectors]) {
  HWY_UNROLL(16)
  for (int64_t r = 0; r < kRows; ++r) {
    const Vector factor = set(x[r]);
    HWY_UNROLL(4)
    for (int64_t v = 0; v < kVectors; ++v) total[r][v] = hn::MulAdd(factor, b[v], total[r][v]);
  }
}

// sums[kRows][16] += rows of A · a strip of B
template <int64_t kRows>
HWY_INLINE void multiply_rows(const float* a, const Bf16* b, int64_t tiles, float* sums) {
  Vector total[kRows][kVectors];
  HWY_UNROLL(16)
  for (int64_t r = 0; r < kRows; ++r) {
    HWY_UNROLL(4)
    for (int64_t v = 0; v < kVectors; ++v) total[r][v] = load(sums + r * kTileRows + v * kLanes, Full{});
  }
  const Bits bits{};
  for (int64_t pair = 0; pair < tiles * kTileRows; ++pair) {
    const auto* words = reinterpret_cast<const uint32_t*>(b + pair * kTileDepth);
    const float* x = a + pair * kTileDepth;
    Vector half[kVectors];
    HWY_UNROLL(4)
    for (int64_t v = 0; v < kVectors; ++v) half[v] = lower_halves(hn::LoadU(bits, words + v * kLanes));
    multiply_add(x, half, total);
    HWY_UNROLL(4)
    for (int64_t v = 0; v < kVectors; ++v) half[v] = upper_halves(hn::LoadU(bits, words + v * kLanes));
    multiply_add(x + kTileRows, half, total);
  }
  HWY_UNROLL(16)
  for (int64_t r = 0; r < kRows; ++r) {
    HWY_UNROLL(4)
    for (int64_t v = 0; v < kVectors; ++v) store(total[r][v], sums + r * kTileRows + v * kLanes, Full{});
  }
}

// 12 sums, the two vectors of a word and one of A fill the 16 registers of AVX2.
HWY_INLINE void multiply_strips(const float* a, const Bf16* b, int64_t tiles, float* sums) {
  // One vector is a whole row of sums: all 16 fit the 32 registers of AVX-512.
  if constexpr (kVectors == 1) return multiply_rows<kTileRows>(a, b, tiles, sums);
  multiply_rows<6>(a, b, tiles, sums);
  multiply_rows<5>(a + 6, b, tiles, sums + 6 * kTileRows);
  multiply_rows<5>(a + 11, b, tiles, sums + 11 * kTileRows);
}

void tile_sums(const TileOperands& args, const TileUnit& unit, float* workspace) {
  const int64_t tiles = tiles_of_depth(args.depth);
  const int64_t a_first = unit.a_begin * kStripsPerPair;
  const int64_t b_first = unit.b_begin * kStripsPerPair;
  const int64_t a_strips = (unit.a_end - unit.a_begin) * kStripsPerPair;
  const int64_t b_strips = (unit.b_end - unit.b_begin) * kStripsPerPair;
  float* sums = workspace;
  float* wide = workspace + a_strips * b_strips * kSums;
  clear(sums, a_strips * b_strips * kSums);
  for (int64_t p = 0; p < tiles; p += kSimdDepth) {
    const int64_t depth = tiles - p < kSimdDepth ? tiles - p : kSimdDepth;
    for (int64_t i = 0; i < a_strips; ++i) {
      widen_strip(args.a + ((a_first + i) * tiles + p) * kTileElements, depth, wide);
      for (int64_t j = 0; j < b_strips; ++j) {
        multiply_strips(wide, args.b + ((b_first + j) * tiles + p) * kTileElements, depth,
                        sums + (i * b_strips + j) * kSums);
      }
    }
  }
}

}  // namespace

void add_tiles(Kernels<float>& table) {
  table.tile_sums = tile_sums;
}

}  // namespace sluice::SLUICE_SIMD_NAMESPACE
