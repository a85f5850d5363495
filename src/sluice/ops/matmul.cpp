#include "sluice/ops/matmul.h"

#include <algorithm>

namespace sluice {
namespace {

// Large enough that packing the other operand once per tile costs little, small enough to share out.
constexpr int64_t kBlockRows = 256;
constexpr int64_t kBlockCols = 512;

template <class T>
Gemm<T> block_of(const Gemm<T>& whole, int64_t row, int64_t col) {
  Gemm<T> tile = whole;
  tile.m = std::min(kBlockRows, whole.m - row);
  tile.n = std::min(kBlockCols, whole.n - col);
  tile.a += whole.a_transpose == Transpose::Yes ? row : row * whole.a_stride;
  tile.b += whole.b_transpose == Transpose::Yes ? col * whole.b_stride : col;
  tile.c += row * whole.c_stride + col;
  return tile;
}

}  // namespace

template <class T>
void matmul(const Context& context, const Gemm<T>& whole) {
  const int64_t tile_rows = (whole.m + kBlockRows - 1) / kBlockRows;
  const int64_t tile_cols = (whole.n + kBlockCols - 1) / kBlockCols;
  context.threads().each(tile_rows * tile_cols, [&](int64_t tile) {
    context.kernels<T>().gemm(block_of(whole, tile / tile_cols * kBlockRows, tile % tile_cols * kBlockCols));
  });
}

template void matmul(const Context&, const Gemm<float>&);
template void matmul(const Context&, const Gemm<double>&);

}  // namespace sluice
