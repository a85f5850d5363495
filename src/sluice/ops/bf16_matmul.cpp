#include "sluice/ops/bf16_matmul.h"

#include <algorithm>

namespace sluice {
namespace {

// Columns of C whose operand is packed at once: 16 MiB at a depth of 2048, where an output layer's whole
// would be 600.
constexpr int64_t kChunk = 4096;

// An operand as packing sees it: [outer, depth], or its transpose.
struct PackRequest {
  const Bf16Operand& operand;
  Transpose transpose;
  int64_t outer, depth;
  TileFormat format;
};

template <class E>
void pack_elements(const Context& context, RangeKernel<PackTiles<E>> kernel, const E* x,
                   const PackRequest& request, const Tensor& tiles) {
  const PackTiles<E> args{.x = x,
                          .stride = request.operand.stride,
                          .transpose = request.transpose,
                          .outer = request.outer,
                          .depth = request.depth,
                          .format = request.format,
                          .tiles = tiles.data<Bf16>()};
  context.run(kernel, args, strip_pairs(request.outer), request.depth * kTileRows);
}

// Outer indices from `first` on.
Tensor packed(const Context& context, const PackRequest& request, int64_t first) {
  const Tensor tiles = context.empty({packed_count(request.outer, request.depth)}, DType::BF16);
  const Kernels<float>& kernels = context.kernels<float>();
  const auto& [f32, bf16, stride, ignored] = request.operand;
  const int64_t skipped = request.transpose == Transpose::No ? first * stride : first;
  if (bf16 != nullptr) {
    pack_elements(context, kernels.pack_tiles_bf16, bf16 + skipped, request, tiles);
  } else {
    pack_elements(context, kernels.pack_tiles, f32 + skipped, request, tiles);
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
  const Tensor a = packed(context, {product.a, product.a.transpose, product.m, product.k, TileFormat::A}, 0);
  // B is given as [k, n], but packed by its columns.
  const Transpose by_column = product.b.transpose == Transpose::Yes ? Transpose::No : Transpose::Yes;
  for (int64_t first = 0; first < product.n; first += kChunk) {
    const int64_t columns = std::min(kChunk, product.n - first);
    const Tensor b = packed(context, {product.b, by_column, columns, product.k, TileFormat::B}, first);
    multiply(context, {.m = product.m,
                       .n = columns,
                       .k = product.k,
                       .a = a.data<Bf16>(),
                       .b = b.data<Bf16>(),
                       .c = product.c + first,
                       .c_stride = product.c_stride,
                       .output = product.output});
  }
}

}  // namespace sluice
