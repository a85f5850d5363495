// Bounded by memory.
#include "sluice/kernels/simd/bf16_lanes.h"
#include "sluice/kernels/simd/register.h"
#include "sluice/kernels/simd/tile_words.h"

namespace sluice::SLUICE_SIMD_NAMESPACE {
namespace {

int64_t smaller(int64_t a, int64_t b) {
  return a < b ? a : b;
}

HWY_INLINE void store_words(hn::Vec<Bits> v, uint32_t* to, Full) {
  hn::StoreU(v, Bits{}, to);
}

HWY_INLINE void store_words(hn::Vec<Bits> v, uint32_t* to, Tail tail) {
  alignas(sizeof(Vector)) uint32_t lanes[kLanes];
  hn::Store(v, Bits{}, lanes);
  std::memcpy(to, lanes, static_cast<size_t>(tail.lanes) * sizeof(uint32_t));
}

HWY_INLINE void copy_rounded(const float* x, int64_t n, Bf16* y) {
  for_each_vector(0, n,
                  [&](int64_t i, auto part) { store_bf16(round_to_bf16(load(x + i, part)), y + i, part); });
}

HWY_INLINE void copy_rounded(const Bf16* x, int64_t n, Bf16* y) {
  if (n > 0) std::memcpy(y, x, static_cast<size_t>(n) * sizeof(Bf16));
}

// Elements in the lower halves of words.
template <class Part>
HWY_INLINE hn::Vec<Bits> rounded_words(const float* x, Part part) {
  return hn::PromoteTo(Bits{}, round_to_bf16(load(x, part)));
}

template <class Part>
HWY_INLINE hn::Vec<Bits> rounded_words(const Bf16* x, Part part) {
  return hn::PromoteTo(Bits{}, load_bf16(x, part));
}

// A part of the source that becomes one tile: `rows` stored rows of `columns` elements.
template <class E>
struct Patch {
  const E* x;
  int64_t stride, rows, columns;

  const E* row(int64_t r) const { return x + r * stride; }
};

// Stored rows become rows of the tile: an A tile if they are outer indices.
template <class E>
void tile_by_rows(const Patch<E>& patch, Words& tile) {
  if (patch.rows < kTileRows || patch.columns < kTileDepth) std::memset(tile, 0, sizeof(Words));
  for (int64_t r = 0; r < patch.rows; ++r)
    copy_rounded(patch.row(r), patch.columns, reinterpret_cast<Bf16*>(tile[r]));
}

// Two stored rows are woven into one row of the tile: a B tile if they are depths.
template <class E>
void tile_by_pairs(const Patch<E>& patch, Words& tile) {
  if (patch.rows < kTileDepth || patch.columns < kTileRows) std::memset(tile, 0, sizeof(Words));
  for (int64_t r = 0; r + 1 < patch.rows; r += 2) {
    for_each_vector(0, patch.columns, [&](int64_t c, auto part) {
      const auto odd = hn::ShiftLeft<16>(rounded_words(patch.row(r + 1) + c, part));
      store_words(hn::Or(rounded_words(patch.row(r) + c, part), odd), &tile[r / 2][c], part);
    });
  }
  if (patch.rows % 2 == 0) return;
  const int64_t last = patch.rows - 1;
  for_each_vector(0, patch.columns, [&](int64_t c, auto part) {
    store_words(rounded_words(patch.row(last) + c, part), &tile[last / 2][c], part);
  });
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

}  // namespace

void add_pack_tiles(Kernels<float>& table) {
  table.pack_tiles = pack_tiles<float>;
  table.pack_tiles_bf16 = pack_tiles<Bf16>;
}

}  // namespace sluice::SLUICE_SIMD_NAMESPACE
