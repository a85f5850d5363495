#include "sluice/ops/weight_product.h"

#include "sluice/ops/matmul.h"
#include "sluice/ops/packed_weights.h"

namespace sluice {
namespace {

struct Sizes {
  int64_t outputs, depth;
};

template <class T>
Sizes sizes_of(const WeightProduct<T>& product) {
  const Tensor& weight = product.weight;
  return product.transpose == Transpose::Yes ? Sizes{weight.rows(), weight.cols()}
                                             : Sizes{weight.cols(), weight.rows()};
}

void multiply_tiles(const Context& context, const WeightProduct<float>& product) {
  const auto [outputs, depth] = sizes_of(product);
  const PackedMatrix x = pack(context, {.operand = {.f32 = product.x, .stride = depth},
                                        .outer = product.rows,
                                        .depth = depth,
                                        .format = TileFormat::A});
  multiply_weight(context, x, {product.weight, product.transpose},
                  {.m = product.rows,
                   .n = outputs,
                   .c = product.y,
                   .c_stride = outputs,
                   .addend = product.output == Output::Accumulate ? product.y : nullptr,
                   .addend_stride = outputs});
}

}  // namespace

template <class T>
void weight_product(const Context& context, const WeightProduct<T>& product) {
  if constexpr (std::is_same_v<T, float>) {
    if (context.precision == Precision::Bf16) return multiply_tiles(context, product);
  }
  const auto [outputs, depth] = sizes_of(product);
  matmul<T>(context, {.m = product.rows,
                      .n = outputs,
                      .k = depth,
                      .a = product.x,
                      .a_stride = depth,
                      .b = product.weight.template data<T>(),
                      .b_stride = product.weight.cols(),
                      .b_transpose = product.transpose,
                      .c = product.y,
                      .c_stride = outputs,
                      .output = product.output});
}

template void weight_product(const Context&, const WeightProduct<float>&);
template void weight_product(const Context&, const WeightProduct<double>&);

}  // namespace sluice
