#include "sluice/ops/weight_product.h"

#include "sluice/ops/matmul.h"
#include "sluice/ops/packed_weights.h"

namespace sluice {
namespace {

void multiply_tiles(const Context& context, const WeightProduct<float>& product) {
  const PackedMatrix weight = packed_weight(context, product.weight, product.transpose);
  const PackedMatrix x = pack(context, {.operand = {.f32 = product.x, .stride = weight.depth},
                                        .outer = product.rows,
                                        .depth = weight.depth,
                                        .format = TileFormat::A});
  multiply(context, x, weight,
           {.m = product.rows,
            .n = weight.outer,
            .c = product.y,
            .c_stride = weight.outer,
            .addend = product.output == Output::Accumulate ? product.y : nullptr,
            .addend_stride = weight.outer});
}

}  // namespace

template <class T>
void weight_product(const Context& context, const WeightProduct<T>& product) {
  if constexpr (std::is_same_v<T, float>) {
    if (context.precision == Precision::Bf16) return multiply_tiles(context, product);
  }
  const bool by_rows = product.transpose == Transpose::Yes;
  const int64_t outputs = by_rows ? product.weight.rows() : product.weight.cols();
  const int64_t depth = by_rows ? product.weight.cols() : product.weight.rows();
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
