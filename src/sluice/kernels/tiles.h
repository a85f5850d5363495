// Products of bf16 matrices with sums in f32, on operands packed into tiles.
//
// A tile is 16 rows of 64 bytes: 32 bf16, two to a 32-bit word. Operands are seen as [outer, depth], where
// depth is what the product sums over. In an A tile, row r is outer index r and its words are the pairs of
// depth. In a B tile, row r is the pair of depths 2r, 2r + 1 and its words are the outer indices: the
// transpose of an A tile by words. A strip is 16 outer indices over the whole depth, tile after tile; an
// operand is its strips, rounded up to pairs of strips, with zeros where the matrix has ended.
//
// Packed operands are read in order, whatever the strides of the matrices: rows a multiple of 4 KiB apart
// would fall into one set of the first cache and run several times slower.
#pragma once

#include <cstdint>

#include "sluice/kernels/gemm.h"
#include "sluice/tensor/bf16.h"

namespace sluice {

inline constexpr int64_t kTileRows = 16;
inline constexpr int64_t kTileDepth = 32;
inline constexpr int64_t kTileElements = kTileRows * kTileDepth;
inline constexpr int64_t kStripsPerPair = 2;

// Static, as the linker could otherwise keep the copy of an instruction set that this CPU lacks.
static inline int64_t strip_pairs(int64_t outer) {
  constexpr int64_t kRows = kStripsPerPair * kTileRows;
  return (outer + kRows - 1) / kRows;
}

static inline int64_t tiles_of_depth(int64_t depth) {
  return (depth + kTileDepth - 1) / kTileDepth;
}

// Elements of a packed operand.
static inline int64_t packed_count(int64_t outer, int64_t depth) {
  return strip_pairs(outer) * kStripsPerPair * tiles_of_depth(depth) * kTileElements;
}

enum class TileFormat { A, B };

// Packs a matrix, rounding to nearest even. The range counts pairs of strips.
template <class E>
struct PackTiles {
  const E* x = nullptr;  // [outer, depth], or [depth, outer] if transposed
  int64_t stride = 0;
  Transpose transpose = Transpose::No;
  int64_t outer = 0, depth = 0;
  TileFormat format = TileFormat::A;
  Bf16* tiles = nullptr;  // [packed_count(outer, depth)]
};

// Packed operands of a product: A tiles of outer m and B tiles of outer n, both of this depth.
struct TileOperands {
  const Bf16* a = nullptr;
  const Bf16* b = nullptr;
  int64_t depth = 0;
};

// The part of a product that one call computes: pairs of strips of A and of B, at most kUnitPairs each. Its
// sums lie tile by tile: [strips of A, strips of B, 16, 16], those of padding among them.
struct TileUnit {
  int64_t a_begin = 0, a_end = 0;
  int64_t b_begin = 0, b_end = 0;
  // Whether A's last strip is padding alone: its sums may be left out, and nobody looks at them. With the few
  // rows that an expert has, half a pair is a large share.
  bool a_half = false;
};

static inline int64_t a_strips_of(const TileUnit& unit) {
  return (unit.a_end - unit.a_begin) * kStripsPerPair - (unit.a_half ? 1 : 0);
}

// 256 × 256 sums are 256 KiB, and 512 of depth of both operands 512 KiB: they fit a second-level cache of 1
// MiB.
inline constexpr int64_t kUnitPairs = 8;

// Depth that the tile unit sums up before the next one is begun, in tiles: two strips of A are then 32 KiB,
// which stay in the first cache while all of B's pass by.
inline constexpr int64_t kDepthTiles = 16;

// The same for vectors, which widen operands to f32: a strip of each is then 8 KiB and stays in the first
// cache, and all strips of A in the second, beside the sums.
inline constexpr int64_t kWideTiles = 4;

// Floats of workspace that the sums of a unit need: they come first, widened strips after them.
inline constexpr int64_t kTileWorkspace = kUnitPairs * kUnitPairs * 4 * kTileRows * kTileRows +
                                          (kUnitPairs * kStripsPerPair + 1) * kWideTiles * kTileElements;

// C[m, n] = the sums, plus the addend if there is one: C itself, another matrix or one row for all of them.
template <class T>
struct StoreSums {
  int64_t m = 0, n = 0;
  T* c = nullptr;
  int64_t c_stride = 0;
  const T* addend = nullptr;
  int64_t addend_stride = 0;  // 0: one row
};

// silu(sums of the gate) · sums of up, as the A tiles of the next product.
struct StoreSwiglu {
  int64_t n = 0;          // columns, the depth of that product
  Bf16* tiles = nullptr;  // [packed_count(m, n)]
};

// y[rows, outer] = x · Bᵀ for a few rows and a packed B, plus the addend as in StoreSums: what FewRowsProduct
// is for a matrix as it is stored. Ranges count strips.
template <class T>
struct FewRowsTiles {
  int64_t rows = 0, depth = 0;
  const T* x = nullptr;  // [rows, depth]
  const Bf16* b = nullptr;
  StoreSums<T> y = {};
};

}  // namespace sluice
