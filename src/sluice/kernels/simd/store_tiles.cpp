// What becomes of the sums of a product. Bounded by memory: the sums are in a cache, what is written is not.
#include "sluice/kernels/simd/math.h"
#include "sluice/kernels/simd/register.h"
#include "sluice/kernels/simd/store_row.h"

namespace sluice::SLUICE_SIMD_NAMESPACE {
namespace {

// Calls body(strip of A, strip of B, its sums) for all tiles of a unit.
template <class Body>
HWY_INLINE void for_tiles(const TileUnit& unit, const Body& body) {
  int64_t tile = 0;
  const int64_t first = unit.a_begin * kStripsPerPair;
  for (int64_t i = first; i < first + a_strips_of(unit); ++i) {
    for (int64_t j = unit.b_begin * kStripsPerPair; j < unit.b_end * kStripsPerPair; ++j)
      body(i, j, tile++ * kTileRows * kTileRows);
  }
}

void store_sums(const StoreSums<float>& args, const TileUnit& unit, const float* sums) {
  for_tiles(unit, [&](int64_t i, int64_t j, int64_t at) {
    for (int64_t r = 0; r < kTileRows && i * kTileRows + r < args.m; ++r)
      store_row(args, i * kTileRows + r, j, sums + at + r * kTileRows);
  });
}

// A tile of sums is one half of each row of a tile of A. Padding becomes silu(0) · 0.
void store_swiglu(const StoreSwiglu& args, const TileUnit& unit, const float* gate_sums,
                  const float* up_sums) {
  const int64_t tiles = tiles_of_depth(args.n);
  for_tiles(unit, [&](int64_t i, int64_t j, int64_t at) {
    Bf16* tile = args.tiles + (i * tiles + j / 2) * kTileElements + j % 2 * kTileRows;
    for (int64_t r = 0; r < kTileRows; ++r) {
      const float *gate = gate_sums + at + r * kTileRows, *up = up_sums + at + r * kTileRows;
      for_each_vector(0, kTileRows, [&](int64_t c, auto part) {
        const Vector h = hn::Mul(silu(load(gate + c, part)), load(up + c, part));
        store_bf16(round_to_bf16(h), tile + r * kTileDepth + c, part);
      });
    }
  });
}

}  // namespace

void add_store_tiles(Kernels<float>& table) {
  table.store_sums = store_sums;
  table.store_swiglu = store_swiglu;
}

}  // namespace sluice::SLUICE_SIMD_NAMESPACE
