#include <algorithm>

#include "sluice/kernels/reference/math.h"
#include "sluice/kernels/reference/register.h"

namespace sluice::reference {
namespace {

// Where the packed operand keeps an element.
int64_t place_of(TileFormat format, int64_t outer, int64_t depth, int64_t depth_tiles) {
  const int64_t tile = outer / kTileRows * depth_tiles + depth / kTileDepth;
  const int64_t o = outer % kTileRows;
  const int64_t d = depth % kTileDepth;
  const int64_t within = format == TileFormat::A ? o * kTileDepth + d : d / 2 * kTileDepth + 2 * o + d % 2;
  return tile * kTileElements + within;
}

template <class E>
float source_element(const PackTiles<E>& args, int64_t outer, int64_t depth) {
  if (outer >= args.outer || depth >= args.depth) return 0.0F;
  const int64_t at =
      args.transpose == Transpose::No ? outer * args.stride + depth : depth * args.stride + outer;
  if constexpr (std::is_same_v<E, Bf16>) {
    return to_float(args.x[at]);
  } else {
    return static_cast<float>(args.x[at]);
  }
}

template <class E>
void pack_tiles(const PackTiles<E>& args, Range pairs) {
  constexpr int64_t kOuter = kStripsPerPair * kTileRows;
  const int64_t tiles = tiles_of_depth(args.depth);
  for (int64_t outer = pairs.begin * kOuter; outer < pairs.end * kOuter; ++outer) {
    for (int64_t depth = 0; depth < tiles * kTileDepth; ++depth) {
      args.tiles[place_of(args.format, outer, depth, tiles)] = to_bf16(source_element(args, outer, depth));
    }
  }
}

template <class T>
T element(const Bf16* tiles, int64_t place) {
  return static_cast<T>(to_float(tiles[place]));
}

// Calls body(row, column, place of the sum) for all sums of a unit.
template <class Body>
void for_sums(const TileUnit& unit, const Body& body) {
  constexpr int64_t kOuter = kStripsPerPair * kTileRows;
  const int64_t rows = a_strips_of(unit) * kTileRows, cols = (unit.b_end - unit.b_begin) * kOuter;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < cols; ++j) {
      const int64_t tile = i / kTileRows * (cols / kTileRows) + j / kTileRows;
      body(unit.a_begin * kOuter + i, unit.b_begin * kOuter + j,
           (tile * kTileRows + i % kTileRows) * kTileRows + j % kTileRows);
    }
  }
}

template <class T>
void tile_sums(const TileOperands& args, const TileUnit& unit, T* workspace) {
  const int64_t tiles = tiles_of_depth(args.depth);
  for_sums(unit, [&](int64_t row, int64_t column, int64_t place) {
    T sum = 0;
    for (int64_t d = 0; d < args.depth; ++d) {
      sum += element<T>(args.a, place_of(TileFormat::A, row, d, tiles)) *
             element<T>(args.b, place_of(TileFormat::B, column, d, tiles));
    }
    workspace[place] = sum;
  });
}

template <class T>
void store(const StoreSums<T>& to, int64_t row, int64_t column, T sum) {
  const T addend = to.addend == nullptr ? T(0) : to.addend[row * to.addend_stride + column];
  to.c[row * to.c_stride + column] = addend + sum;
}

template <class T>
void store_sums(const StoreSums<T>& args, const TileUnit& unit, const T* sums) {
  for_sums(unit, [&](int64_t row, int64_t column, int64_t place) {
    if (row < args.m && column < args.n) store(args, row, column, sums[place]);
  });
}

template <class T>
void store_swiglu(const StoreSwiglu& args, const TileUnit& unit, const T* gate_sums, const T* up_sums) {
  const int64_t tiles = tiles_of_depth(args.n);
  for_sums(unit, [&](int64_t row, int64_t column, int64_t place) {
    const T x = gate_sums[place];
    args.tiles[place_of(TileFormat::A, row, column, tiles)] =
        to_bf16(static_cast<float>(x * sigmoid(x) * up_sums[place]));
  });
}

template <class T>
void few_rows_tiles(const FewRowsTiles<T>& args, Range strips) {
  const int64_t tiles = tiles_of_depth(args.depth);
  const int64_t end = std::min(strips.end * kTileRows, args.y.n);
  for (int64_t r = 0; r < args.rows; ++r) {
    for (int64_t o = strips.begin * kTileRows; o < end; ++o) {
      T sum = 0;
      for (int64_t d = 0; d < args.depth; ++d)
        sum += args.x[r * args.depth + d] * element<T>(args.b, place_of(TileFormat::B, o, d, tiles));
      store(args.y, r, o, sum);
    }
  }
}

}  // namespace

template <class T>
void add_tiles(Kernels<T>& table) {
  table.pack_tiles = pack_tiles<T>;
  table.pack_tiles_bf16 = pack_tiles<Bf16>;
  table.tile_sums = tile_sums<T>;
  table.store_sums = store_sums<T>;
  table.store_swiglu = store_swiglu<T>;
  table.few_rows_tiles = few_rows_tiles<T>;
}

template void add_tiles(Kernels<float>&);
template void add_tiles(Kernels<double>&);

}  // namespace sluice::reference
