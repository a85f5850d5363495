// 32 rows of a head, rounded to bf16, in the four ways in which tiles take them. Rows are what the sequence
// counts, columns are the channels of the head (hd, padded to a multiple of 32 with zeros).
//
//   straight       A tiles, depth = channels     [2 strips of rows, hd / 32, 16, 32]
//   turned         B tiles, depth = channels     the same, words transposed
//   woven          B tiles, depth = rows         [hd / 16, 16 pairs of rows, 16 channels, 2]
//   woven_turned   A tiles, depth = rows         the same, words transposed
#pragma once

#include "sluice/kernels/amx/bf16_rows.h"
#include "sluice/kernels/amx/tile_block.h"
#include "sluice/kernels/simd/head_rows.h"
#include "sluice/kernels/simd/tile_words.h"

namespace sluice::SLUICE_SIMD_NAMESPACE {
namespace {

struct RowGroup {
  ConstRows rows;
  int64_t count;  // of the 32; the others become zeros
  int64_t head_dim;

  int64_t width() const { return tile_padded(head_dim); }
};

inline Words& words_of(Bf16* tile) {
  return *reinterpret_cast<Words*>(tile);
}

// Up to 16 channels from `column` on; zeros behind the last row and the last channel.
HWY_INLINE __m512 channels(const RowGroup& group, int64_t row, int64_t column) {
  if (row >= group.count) return _mm512_setzero_ps();
  return load_part(group.rows.at(row) + column, group.head_dim - column);
}

// Rows strip · 16 … of channels 32 · p ….
inline void straight_tile(const RowGroup& group, int64_t strip, int64_t p, Bf16* tile) {
  for (int64_t r = 0; r < kTileRows; ++r) {
    const int64_t row = strip * kTileRows + r;
    store_bf16_row(channels(group, row, p * kTileDepth), channels(group, row, p * kTileDepth + kTileRows),
                   tile + r * kTileDepth);
  }
}

// All rows of channels 16 · c ….
inline void woven_tile(const RowGroup& group, int64_t c, Bf16* tile) {
  for (int64_t r = 0; r < kTileRows; ++r)
    store_woven(channels(group, 2 * r, c * kTileRows), channels(group, 2 * r + 1, c * kTileRows),
                tile + r * kTileDepth);
}

inline void pack_straight(const RowGroup& group, Bf16* tiles) {
  for (int64_t strip = 0; strip < kStripsPerPair; ++strip) {
    for (int64_t p = 0; p < group.width() / kTileDepth; ++p, tiles += kTileElements)
      straight_tile(group, strip, p, tiles);
  }
}

inline void pack_turned(const RowGroup& group, Bf16* tiles) {
  alignas(64) Bf16 tile[kTileElements];
  for (int64_t strip = 0; strip < kStripsPerPair; ++strip) {
    for (int64_t p = 0; p < group.width() / kTileDepth; ++p, tiles += kTileElements) {
      straight_tile(group, strip, p, tile);
      transpose_words(words_of(tile), words_of(tiles));
    }
  }
}

inline void pack_woven(const RowGroup& group, Bf16* tiles) {
  for (int64_t c = 0; c < group.width() / kTileRows; ++c) woven_tile(group, c, tiles + c * kTileElements);
}

inline void pack_woven_turned(const RowGroup& group, Bf16* tiles) {
  alignas(64) Bf16 tile[kTileElements];
  for (int64_t c = 0; c < group.width() / kTileRows; ++c, tiles += kTileElements) {
    woven_tile(group, c, tile);
    transpose_words(words_of(tile), words_of(tiles));
  }
}

// Two strips of rows with depth = channels, as pack_straight and pack_turned leave them.
inline TilePairs by_channels(const Bf16* tiles, int64_t width) {
  return {tiles, tiles + width / kTileDepth * kTileElements, amx::kRowBytes, kTileElements};
}

// Channels 32 · pair … with depth = rows; the next 32 rows follow `width` · 32 elements further.
inline TilePairs by_rows(const Bf16* tiles, int64_t width, int64_t pair) {
  const Bf16* first = tiles + pair * kStripsPerPair * kTileElements;
  return {first, first + kTileElements, amx::kRowBytes, width * kTilePair};
}

}  // namespace
}  // namespace sluice::SLUICE_SIMD_NAMESPACE
