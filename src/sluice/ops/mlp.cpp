#include "sluice/ops/mlp.h"

#include <algorithm>
#include <array>

#include "sluice/ops/swiglu.h"
#include "sluice/ops/weight_product.h"

namespace sluice {
namespace {

bool fits_tiles(const Context& context, const Var& x, const MlpWeights& weights) {
  const std::array layers = {&weights.gate, &weights.up, &weights.down};
  return context.tape == nullptr && x.rows() >= kFewRows &&
         std::ranges::all_of(layers, [&](const LinearWeights* layer) {
           return product_path(context, layer->weight, x.rows()) == ProductPath::Tiles &&
                  !layer->bias.value().defined();
         });
}

Tensor on_tiles(const Context& context, const Tensor& x, const MlpWeights& weights, const Tensor& residual) {
  const PackedMatrix h = multiply_swiglu(context, packed_rows(context, x, TileFormat::A),
                                         weights.gate.weight.packed(context, Transpose::Yes),
                                         weights.up.weight.packed(context, Transpose::Yes));
  Tensor y = context.empty({x.rows(), weights.down.weight.outputs()}, DType::F32);
  multiply_packed(context, h, weights.down.weight,
                  {.m = y.rows(),
                   .n = y.cols(),
                   .c = y.data<float>(),
                   .c_stride = y.cols(),
                   .addend = residual.defined() ? residual.data<float>() : nullptr,
                   .addend_stride = y.cols()});
  return y;
}

}  // namespace

Var mlp(const Context& context, const Var& x, const MlpWeights& weights, const Var& residual) {
  if (fits_tiles(context, x, weights)) return Var(on_tiles(context, x.value(), weights, residual.value()));
  const std::array shared = {weights.gate, weights.up};
  const std::vector<Var> parts = linears(context, x, shared);
  const Var h = swiglu(context, parts[0], parts[1]);
  return residual.value().defined() ? add_linear(context, residual, h, weights.down)
                                    : linear(context, h, weights.down);
}

}  // namespace sluice
