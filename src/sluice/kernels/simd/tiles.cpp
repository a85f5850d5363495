// Packing is bounded by memory. The product is bounded by multiply-adds: of the words of B two vectors of f32
// are made, which 5 or 6 rows of A then share.
#include "sluice/kernels/tiles.h"

#include "sluice/kernels/simd/bf16_lanes.h"
#include "sluice/kernels/simd/register.h"

namespace sluice::SLUICE_SIMD_NAMESPACE {
namespace {

using Words = uint32_t[kTileRows][kTileRows];

int64_t smaller(int64_t a, int64_t b) {
  return a < b ? a : b;
}

void transpose_words(const Words& from, Words& to) {
  for (int64_t r = 0; r < kTileRows; ++r) {
    for (int64_t c = 0; c < kTileRows; ++c) to[c][r] = from[r][c];
  }
}

HWY_INLINE void copy_rounded(const float* x, int64_t n, Bf16* y) {
  for_each_vector(0, n,
                  [&](int64_t i, auto part) { store_bf16(round_to_bf16(load(x + i, part)), y + i, part); });
}

HWY_INLINE void copy_rounded(const Bf16* x, int64_t n, Bf16* y) {
  if (n > 0) std::memcpy(y, x, static_cast<size_t>(n) * sizeof(Bf16));
}

// A part of the source that becomes one tile: `rows` stored rows of `columns` elements.
template <class E>
struct Patch {
  const E* x;
  int64_t stride, rows, columns;
};

// Stored rows become rows of the tile: an A tile if they are outer indices.
template <class E>
void tile_by_rows(const Patch<E>& patch, Words& tile) {
  std::memset(tile, 0, sizeof(Words));
  for (int64_t r = 0; r < patch.rows; ++r)
    copy_rounded(patch.x + r * patch.stride, patch.columns, reinterpret_cast<Bf16*>(tile[r]));
}

// Two stored rows are woven into one row of the tile: a B tile if they are depths.
template <class E>
void tile_by_pairs(const Patch<E>& patch, Words& tile) {
  std::memset(tile, 0, sizeof(Words));
  Bf16 even[kTileRows], odd[kTileRows];
  for (int64_t r = 0; r < patch.rows; r += 2) {
    const bool whole = r + 1 < patch.rows;
    copy_rounded(patch.x + r * patch.stride, patch.columns, even);
    if (whole) copy_rounded(patch.x + (r + 1) * patch.stride, patch.columns, odd);
    for (int64_t c = 0; c < patch.columns; ++c) {
      tile[r / 2][c] = even[c].bits | (whole ? uint32_t{odd[c].bits} << 16 : 0U);
    }
  }
}

template <class E>
void pack_strip(const PackTiles<E>& args, int64_t strip) {
  const int64_t tiles = tiles_of_depth(args.depth);
  const int64_t outer = strip * kTileRows;
  const int64_t outers = args.outer - outer < 0 ? 0 : smaller(kTileRows, args.outer - outer);
  const bool stored_by_outer = args.transpose == Transpose::No;
  // Rows of an [outer, depth] matrix make A tiles, pairs of rows of a [depth, outer] one B tiles.
  const bool turn = stored_by_outer != (args.format == TileFormat::A);
  for (int64_t p = 0; p < tiles; ++p) {
    const int64_t depth = p * kTileDepth;
    const int64_t depths = outers == 0 ? 0 : smaller(kTileDepth, args.depth - depth);
    auto& tile = *reinterpret_cast<Words*>(args.tiles + (strip * tiles + p) * kTileElements);
    alignas(64) Words other;
    Words& made = turn ? other : tile;
    if (stored_by_outer) {
      tile_by_rows(Patch<E>{args.x + outer * args.stride + depth, args.stride, outers, depths}, made);
    } else {
      tile_by_pairs(Patch<E>{args.x + depth * args.stride + outer, args.stride, depths, outers}, made);
    }
    if (turn) transpose_words(other, tile);
  }
}

template <class E>
void pack_tiles(const PackTiles<E>& args, Range pairs) {
  for (int64_t strip = pairs.begin * kStripsPerPair; strip < pairs.end * kStripsPerPair; ++strip)
    pack_strip(args, strip);
}

// Vectors of a tile's 16 columns.
constexpr int64_t kVectors = kTileRows / kLanes;
constexpr int64_t kSums = kTileRows * kTileRows;

// Depth that is multiplied at once, in tiles: the strip of A is then 16 KiB of f32, half of a small first
// cache.
constexpr int64_t kSimdDepth = 8;
static_assert(kSimdDepth <= kDepthTiles, "the workspace is made for that");

// A strip of A in f32: [pairs of depth, 16 rows, 2]. The rows that are multiplied together lie together.
void widen_strip(const Bf16* tiles, int64_t count, float* wide) {
  for (int64_t p = 0; p < count; ++p) {
    for (int64_t r = 0; r < kTileRows; ++r) {
      const Bf16* row = tiles + p * kTileElements + r * kTileDepth;
      float* to = wide + p * kTileElements + 2 * r;
      for (int64_t pair = 0; pair < kTileRows; ++pair) {
        alignas(8) const uint32_t both[2] = {uint32_t{row[2 * pair].bits} << 16,
                                             uint32_t{row[2 * pair + 1].bits} << 16};
        std::memcpy(to + pair * kTileDepth, both, sizeof both);
      }
    }
  }
}

// total[r] += x[2 r] · b
// Unrolled on purpose, here and below: sums that a loop indexes stay in memory, and -O2 alone does not
// unroll.
template <int64_t kRows>
HWY_INLINE void multiply_add(const float* x, const Vector (&b)[kVectors], Vector (&total)[kRows][kVectors]) {
  HWY_UNROLL(16)
  for (int64_t r = 0; r < kRows; ++r) {
    const Vector factor = set(x[2 * r]);
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
    for (int64_t v = 0; v < kVectors; ++v)
      half[v] = hn::BitCast(tag, hn::ShiftLeft<16>(hn::LoadU(bits, words + v * kLanes)));
    multiply_add(x, half, total);
    HWY_UNROLL(4)
    for (int64_t v = 0; v < kVectors; ++v)
      half[v] = hn::BitCast(tag, hn::And(hn::LoadU(bits, words + v * kLanes), hn::Set(bits, 0xffff0000U)));
    multiply_add(x + 1, half, total);
  }
  HWY_UNROLL(16)
  for (int64_t r = 0; r < kRows; ++r) {
    HWY_UNROLL(4)
    for (int64_t v = 0; v < kVectors; ++v) store(total[r][v], sums + r * kTileRows + v * kLanes, Full{});
  }
}

// 12 sums, the two vectors of a word and one of A fill the 16 registers of AVX2.
void multiply_strips(const float* a, const Bf16* b, int64_t tiles, float* sums) {
  // One vector is a whole row of sums: all 16 fit the 32 registers of AVX-512.
  if constexpr (kVectors == 1) return multiply_rows<kTileRows>(a, b, tiles, sums);
  multiply_rows<6>(a, b, tiles, sums);
  multiply_rows<5>(a + 2 * 6, b, tiles, sums + 6 * kTileRows);
  multiply_rows<5>(a + 2 * 11, b, tiles, sums + 11 * kTileRows);
}

void write_tile(const TileProduct<float>& args, int64_t row, int64_t column, const float* sums) {
  const int64_t rows = smaller(kTileRows, args.m - row);
  const int64_t columns = smaller(kTileRows, args.n - column);
  for (int64_t r = 0; r < rows; ++r) {
    float* c = args.c + (row + r) * args.c_stride + column;
    for_each_vector(0, columns, [&](int64_t i, auto part) {
      const Vector sum = load(sums + r * kTileRows + i, part);
      store(args.output == Output::Accumulate ? hn::Add(load(c + i, part), sum) : sum, c + i, part);
    });
  }
}

void tile_product(const TileProduct<float>& args, const TileUnit& unit, float* workspace) {
  const int64_t tiles = tiles_of_depth(args.k);
  const int64_t a_first = unit.a_begin * kStripsPerPair;
  const int64_t b_first = unit.b_begin * kStripsPerPair;
  const int64_t a_strips = (unit.a_end - unit.a_begin) * kStripsPerPair;
  const int64_t b_strips = (unit.b_end - unit.b_begin) * kStripsPerPair;
  float* sums = workspace;  // [a_strips, b_strips, 16, 16]
  float* wide = workspace + a_strips * b_strips * kSums;
  clear(sums, a_strips * b_strips * kSums);
  for (int64_t p = 0; p < tiles; p += kSimdDepth) {
    const int64_t depth = smaller(kSimdDepth, tiles - p);
    for (int64_t i = 0; i < a_strips; ++i) {
      widen_strip(args.a + ((a_first + i) * tiles + p) * kTileElements, depth, wide);
      for (int64_t j = 0; j < b_strips; ++j) {
        multiply_strips(wide, args.b + ((b_first + j) * tiles + p) * kTileElements, depth,
                        sums + (i * b_strips + j) * kSums);
      }
    }
  }
  write_tile_sums(args, unit, sums);
}

}  // namespace

void write_tile_sums(const TileProduct<float>& args, const TileUnit& unit, const float* sums) {
  const int64_t a_end = smaller(unit.a_end * kStripsPerPair * kTileRows, args.m);
  for (int64_t row = unit.a_begin * kStripsPerPair * kTileRows; row < a_end; row += kTileRows) {
    // A strip that is there only to make up a pair has sums, too.
    const float* tile = sums + (row / kTileRows - unit.a_begin * kStripsPerPair) *
                                   (unit.b_end - unit.b_begin) * kStripsPerPair * kSums;
    const int64_t b_end = smaller(unit.b_end * kStripsPerPair * kTileRows, args.n);
    for (int64_t column = unit.b_begin * kStripsPerPair * kTileRows; column < b_end; column += kTileRows) {
      write_tile(args, row, column, tile);
      tile += kSums;
    }
  }
}

void add_tiles(Kernels<float>& table) {
  table.pack_tiles = pack_tiles<float>;
  table.pack_tiles_bf16 = pack_tiles<Bf16>;
  table.tile_product = tile_product;
}

}  // namespace sluice::SLUICE_SIMD_NAMESPACE
