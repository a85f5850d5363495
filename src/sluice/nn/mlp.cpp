#include "sluice/nn/mlp.h"

#include "sluice/ops/mlp.h"

namespace sluice {

LayerCounts MlpShape::counts() const {
  const int64_t weights = 3 * hidden * width;
  return {.parameters = {.feed_forward = weights}, .flops = {.products = 2 * weights}};
}

void Mlp::list_parameters(ParameterList& list, const std::string& layer) {
  const std::string prefix = layer + "mlp.";
  list.add_linear(prefix + "gate_proj", gate_, {shape_.width, shape_.hidden});
  list.add_linear(prefix + "up_proj", up_, {shape_.width, shape_.hidden});
  list.add_linear(prefix + "down_proj", down_, {shape_.hidden, shape_.width},
                  {.use = MatrixUse::FeedForwardOutput});
  gates_.list_parameters(list, prefix);
}

LayerCounts Mlp::counts() const {
  LayerCounts counts = shape_.counts();
  counts += gates_.counts();
  return counts;
}

LayerOutput Mlp::apply(const Context& context, const Var& x, const LayerCall& call) const {
  const MlpWeights weights{
      .gate = gate_.weights(context), .up = up_.weights(context), .down = down_.weights(context)};
  Var y = mlp(context, x, weights, call.residual);
  for (const Gate& gate : gates_.all()) y = gate.apply(context, call.layer, gate.scores_of(context, x), y);
  return {.y = y};
}

}  // namespace sluice
