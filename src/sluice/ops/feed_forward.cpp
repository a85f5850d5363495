#include "sluice/ops/feed_forward.h"

#include <algorithm>
#include <array>

#include "sluice/ops/packed_weights.h"
#include "sluice/ops/swiglu.h"

namespace sluice {
namespace {

bool fits_tiles(const Context& context, const Var& x, const FeedForwardWeights& weights) {
  const std::array layers = {weights.gate, weights.up, weights.down};
  return context.tape == nullptr && x.rows() >= kFewRows &&
         std::ranges::all_of(layers, [&](const LinearWeights& layer) {
           return !layer.int8 && multiplies_tiles(context, layer.weight.value()) &&
                  !layer.bias.value().defined();
         });
}

Tensor on_tiles(const Context& context, const Tensor& x, const FeedForwardWeights& weights,
                const Tensor& residual) {
  const auto operand = [&](const LinearWeights& layer) {
    return packed_weight(context, layer.weight.value(), Transpose::Yes);
  };
  const PackedMatrix h = multiply_swiglu(context, packed_rows(context, x, TileFormat::A),
                                         operand(weights.gate), operand(weights.up));
  Tensor y = context.empty({x.rows(), weights.down.weight.rows()}, DType::F32);
  multiply_weight(context, h, {weights.down.weight.value()},
                  {.m = y.rows(),
                   .n = y.cols(),
                   .c = y.data<float>(),
                   .c_stride = y.cols(),
                   .addend = residual.defined() ? residual.data<float>() : nullptr,
                   .addend_stride = y.cols()});
  return y;
}

}  // namespace

Var feed_forward(const Context& context, const Var& x, const FeedForwardWeights& weights,
                 const Var& residual) {
  if (fits_tiles(context, x, weights)) return Var(on_tiles(context, x.value(), weights, residual.value()));
  const std::array shared = {weights.gate, weights.up};
  const std::vector<Var> parts = linears(context, x, shared);
  const Var h = swiglu(context, parts[0], parts[1]);
  return residual.value().defined() ? add_linear(context, residual, h, weights.down)
                                    : linear(context, h, weights.down);
}

}  // namespace sluice
