#include <algorithm>

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
float element(const PackTiles<E>& args, int64_t outer, int64_t depth) {
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
      args.tiles[place_of(args.format, outer, depth, tiles)] = to_bf16(element(args, outer, depth));
    }
  }
}

template <class T>
void tile_product(const TileProduct<T>& args, const TileUnit& unit, T* /*workspace*/) {
  constexpr int64_t kOuter = kStripsPerPair * kTileRows;
  const int64_t tiles = tiles_of_depth(args.k);
  for (int64_t i = unit.a_begin * kOuter; i < std::min(unit.a_end * kOuter, args.m); ++i) {
    for (int64_t j = unit.b_begin * kOuter; j < std::min(unit.b_end * kOuter, args.n); ++j) {
      T sum = 0;
      for (int64_t d = 0; d < args.k; ++d) {
        sum += static_cast<T>(to_float(args.a[place_of(TileFormat::A, i, d, tiles)])) *
               static_cast<T>(to_float(args.b[place_of(TileFormat::B, j, d, tiles)]));
      }
      T& c = args.c[i * args.c_stride + j];
      c = args.output == Output::Accumulate ? c + sum : sum;
    }
  }
}

}  // namespace

template <class T>
void add_tiles(Kernels<T>& table) {
  table.pack_tiles = pack_tiles<T>;
  table.pack_tiles_bf16 = pack_tiles<Bf16>;
  table.tile_product = tile_product<T>;
}

template void add_tiles(Kernels<float>&);
template void add_tiles(Kernels<double>&);

}  // namespace sluice::reference
