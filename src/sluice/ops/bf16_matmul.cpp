#include "sluice/ops/bf16_matmul.h"

#include <algorithm>

namespace sluice {
namespace {

// Columns of C whose operand is packed at once: 16 MiB at a depth of 2048, where an output layer's whole
// would be 600.
constexpr int64_t kChunk = 4096;

// An operand as packing sees it.
struct Operand {
  const Tensor& x;
  Transpose transpose;  // No: [outer, depth]
  int64_t outer, depth;
  TileFormat format;
};

template <class E>
void pack_elements(const Context& context, RangeKernel<PackTiles<E>> kernel, const Operand& operand,
                   int64_t first, const Tensor& tiles) {
  const int64_t stride = operand.x.cols();
  const PackTiles<E> args{
      .x = operand.x.data<E>() + (operand.transpose == Transpose::No ? first * stride : first),
      .stride = stride,
      .transpose = operand.transpose,
      .outer = operand.outer,
      .depth = operand.depth,
      .format = operand.format,
      .tiles = tiles.data<Bf16>()};
  context.run(kernel, args, strip_pairs(operand.outer), operand.depth * kTileRows);
}

// Outer indices from `first` on.
Tensor packed(const Context& context, const Operand& operand, int64_t first) {
  const Tensor tiles = context.empty({packed_count(operand.outer, operand.depth)}, DType::BF16);
  const Kernels<float>& kernels = context.kernels<float>();
  if (operand.x.dtype() == DType::BF16) {
    pack_elements<Bf16>(context, kernels.pack_tiles_bf16, operand, first, tiles);
  } else {
    pack_elements<float>(context, kernels.pack_tiles, operand, first, tiles);
  }
  return tiles;
}

void multiply(const Context& context, const TileProduct<float>& product) {
  const int64_t a_pairs = strip_pairs(product.m), b_pairs = strip_pairs(product.n);
  const int64_t a_units = (a_pairs + kUnitPairs - 1) / kUnitPairs;
  const int64_t b_units = (b_pairs + kUnitPairs - 1) / kUnitPairs;
  context.threads().each(a_units * b_units, [&](int64_t index) {
    const int64_t a = index / b_units * kUnitPairs, b = index % b_units * kUnitPairs;
    const TileUnit unit{.a_begin = a,
                        .a_end = std::min(a + kUnitPairs, a_pairs),
                        .b_begin = b,
                        .b_end = std::min(b + kUnitPairs, b_pairs)};
    const Tensor workspace = context.empty({kTileWorkspace}, DType::F32);
    context.kernels<float>().tile_product(product, unit, workspace.data<float>());
  });
}

}  // namespace

void bf16_matmul(const Context& context, const Bf16Product& product) {
  const Tensor a = packed(context, {product.a, product.a_transpose, product.m, product.k, TileFormat::A}, 0);
  // B is given as [k, n], but packed by its columns.
  const Transpose by_column = product.b_transpose == Transpose::Yes ? Transpose::No : Transpose::Yes;
  for (int64_t first = 0; first < product.n; first += kChunk) {
    const int64_t columns = std::min(kChunk, product.n - first);
    const Tensor b = packed(context, {product.b, by_column, columns, product.k, TileFormat::B}, first);
    multiply(context, {.m = product.m,
                       .n = columns,
                       .k = product.k,
                       .a = a.data<Bf16>(),
                       .b = b.data<Bf16>(),
                       .c = product.c + first,
                       .c_stride = product.n,
                       .output = product.output});
  }
}

}  // namespace sluice
