#include "sluice/ops/matmul.h"

#include <algorithm>

#include "sluice/ops/bf16_matmul.h"

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

void multiply_rounded(const Context& context, const Gemm<float>& whole) {
  bf16_matmul(context, {.m = whole.m,
                        .n = whole.n,
                        .k = whole.k,
                        .a = {.f32 = whole.a, .stride = whole.a_stride, .transpose = whole.a_transpose},
                        .b = {.f32 = whole.b, .stride = whole.b_stride, .transpose = whole.b_transpose},
                        .c = whole.c,
                        .c_stride = whole.c_stride,
                        .output = whole.output});
}

}  // namespace

template <class T>
void matmul(const Context& context, const Gemm<T>& whole) {
  if constexpr (std::is_same_v<T, float>) {
    if (context.precision == Precision::Bf16) return multiply_rounded(context, whole);
  }
  const int64_t tile_rows = (whole.m + kBlockRows - 1) / kBlockRows;
  const int64_t tile_cols = (whole.n + kBlockCols - 1) / kBlockCols;
  context.threads().each(tile_rows * tile_cols, [&](int64_t tile) {
    context.kernels<T>().gemm(block_of(whole, tile / tile_cols * kBlockRows, tile % tile_cols * kBlockCols));
  });
}

template void matmul(const Context&, const Gemm<float>&);
template void matmul(const Context&, const Gemm<double>&);

}  // namespace sluice
