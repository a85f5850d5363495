// Bounded by reading the packed weights from memory, which lie in the order in which they are read.
#include "sluice/kernels/simd/register.h"
#include "sluice/kernels/simd/store_row.h"

namespace sluice::SLUICE_SIMD_NAMESPACE {
namespace {

constexpr int64_t kVectors = kTileRows / kLanes;

// Elements ahead of the reading, since the CPU's own prefetching stops at the end of a page.
constexpr int64_t kAhead = 1024;

// Even and odd depths have sums of their own: as many additions under way as their latency asks for.
template <int64_t kRows>
struct Totals {
  Vector even[kRows][kVectors], odd[kRows][kVectors];
};

template <int64_t kRows>
HWY_INLINE void add_pair(const float* x, int64_t stride, const Bf16* b, Totals<kRows>& totals) {
  HWY_UNROLL(4)
  for (int64_t v = 0; v < kVectors; ++v) {
    const auto words = hn::LoadU(Bits{}, reinterpret_cast<const uint32_t*>(b) + v * kLanes);
    const Vector lower = lower_halves(words), upper = upper_halves(words);
    HWY_UNROLL(4)
    for (int64_t r = 0; r < kRows; ++r) {
      totals.even[r][v] = hn::MulAdd(set(x[r * stride]), lower, totals.even[r][v]);
      totals.odd[r][v] = hn::MulAdd(set(x[r * stride + 1]), upper, totals.odd[r][v]);
    }
  }
}

template <int64_t kRows>
void multiply_strip(const FewRowsTiles<float>& args, int64_t first_row, int64_t strip) {
  const int64_t depth = tiles_of_depth(args.depth) * kTileDepth;
  const Bf16* b = args.b + strip * depth * kTileRows;
  const float* x = args.x + first_row * args.depth;
  Totals<kRows> totals;
  HWY_UNROLL(4)
  for (int64_t r = 0; r < kRows; ++r) {
    HWY_UNROLL(4)
    for (int64_t v = 0; v < kVectors; ++v) totals.even[r][v] = totals.odd[r][v] = hn::Zero(tag);
  }
  int64_t d = 0;
  for (; d + 1 < args.depth; d += 2, b += kTileDepth) {
    __builtin_prefetch(b + kAhead);
    add_pair(x + d, args.depth, b, totals);
  }
  if (d < args.depth) {
    // The partner of an odd last depth is a zero in B; there is none in x.
    float last[kRows][2];
    for (int64_t r = 0; r < kRows; ++r) {
      last[r][0] = x[r * args.depth + d];
      last[r][1] = 0;
    }
    add_pair(last[0], 2, b, totals);
  }
  HWY_UNROLL(4)
  for (int64_t r = 0; r < kRows; ++r) {
    alignas(64) float sums[kTileRows];
    HWY_UNROLL(4)
    for (int64_t v = 0; v < kVectors; ++v)
      hn::Store(hn::Add(totals.even[r][v], totals.odd[r][v]), tag, sums + v * kLanes);
    store_row(args.y, first_row + r, strip, sums);
  }
}

void few_rows_tiles(const FewRowsTiles<float>& args, Range strips) {
  for (int64_t strip = strips.begin; strip < strips.end; ++strip) {
    int64_t row = 0;
    for (; row + 3 <= args.rows; row += 3) multiply_strip<3>(args, row, strip);
    if (args.rows - row == 2) multiply_strip<2>(args, row, strip);
    if (args.rows - row == 1) multiply_strip<1>(args, row, strip);
  }
}

}  // namespace

void add_few_rows_tiles(Kernels<float>& table) {
  table.few_rows_tiles = few_rows_tiles;
}

}  // namespace sluice::SLUICE_SIMD_NAMESPACE
