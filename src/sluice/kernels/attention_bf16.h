// Attention whose operands (queries, keys, values, probabilities, and in the gradient dy and dS) are rounded
// to bf16; sums, the softmax and its gradient stay f32. Sequences of fewer than kFewQueries queries are not
// rounded. The arguments are those of kernels/attention.h; here is what the tile kernels need for them.
#pragma once

#include "sluice/kernels/attention.h"
#include "sluice/kernels/tiles.h"

namespace sluice {

// Rows of a 2 × 2 block of tiles: queries and keys are handled so many at a time.
inline constexpr int64_t kTilePair = kStripsPerPair * kTileRows;

// Forward, 32 queries meet 256 keys: 34 KiB of scores and 18 KiB of probabilities, most of a first-level
// cache of 48. 128 queries go through the same keys and values, which then come from the second-level cache.
inline constexpr int64_t kTileQueries = 128;
inline constexpr int64_t kTileKeys = 256;
inline constexpr int64_t kTileScoreStride = kTileKeys + 16;  // rows an odd number of cache lines apart
inline constexpr int64_t kTileProbStride = kTileKeys + 32;

// Backward, blocks of 128 keys and 128 queries: sums of gradients are then loaded and stored once for four
// products.
inline constexpr int64_t kTileBlock = 128;
inline constexpr int64_t kTileBlockStride = kTileBlock + 16;
inline constexpr int64_t kTileBlockProbStride = kTileBlock + 32;

// Static, as the linker could otherwise keep the copy of an instruction set that this CPU lacks.
static inline int64_t tile_padded(int64_t count) {
  return (count + kTilePair - 1) / kTilePair * kTilePair;
}

static inline int64_t larger_of(int64_t a, int64_t b) {
  return a > b ? a : b;
}

// Elements of f32. Of bf16 there are two to one: keys and values, queries, probabilities, values of 32 keys;
// f32 are results and scores, and a flag for every 32 keys.
static inline int64_t attention_forward_bf16_workspace(const AttentionShape& shape) {
  const int64_t width = tile_padded(shape.head_dim);
  const int64_t keys = tile_padded(shape.longest);
  const int64_t bf16 =
      2 * keys * width + kTileQueries * width + kTilePair * kTileProbStride + kTilePair * width;
  const int64_t f32 = kTileQueries * (width + 16) + kTilePair * kTileScoreStride + keys / kTilePair + 16;
  return larger_of(bf16 / 2 + f32, attention_forward_workspace(shape));
}

// bf16: keys twice, values, queries and dy twice, probabilities and dS, dS woven. f32: three gradients, two
// numbers for each query, two kinds of scores, rows of dy.
static inline int64_t attention_backward_bf16_workspace(const AttentionShape& shape) {
  const int64_t width = tile_padded(shape.head_dim);
  const int64_t keys = tile_padded(shape.longest);
  const int64_t bf16 = 7 * keys * width + 2 * kTilePair * kTileBlockProbStride + kTileBlock * kTileBlock;
  const int64_t f32 =
      3 * keys * width + 2 * keys + 2 * kTilePair * kTileBlockStride + kTilePair * (width + 16);
  return larger_of(bf16 / 2 + f32, attention_backward_workspace(shape));
}

}  // namespace sluice
