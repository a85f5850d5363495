#include "sluice/ops/linear.h"

#include "sluice/ops/arithmetic.h"
#include "sluice/ops/weight_product.h"

namespace sluice {
namespace {

// Shapes: x [N, K], weight [M, K], y and dy [N, M].
struct Layer {
  Weight weight;
  Var bias, residual;  // a default Var is none
};

// What the layers of one input share.
struct Input {
  explicit Input(const Var& x) : slot(x.slot()), values(x.value()) {}

  Slot slot;
  ProductInput values;
};

bool present(const Var& var) {
  return var.value().defined();
}

void check(const Context& context, const Tensor& x, const Layer& layer) {
  const Weight& weight = layer.weight;
  check_weight("linear", context, x, weight);
  SLUICE_ASSERT(!present(layer.bias) || layer.bias.value().count() == weight.outputs(),
                "linear: bias {} for {} outputs", layer.bias.shape().text(), weight.outputs());
  SLUICE_ASSERT(!present(layer.residual) || layer.residual.shape() == Shape({x.rows(), weight.outputs()}),
                "linear: residual {} for {} rows of {} outputs", layer.residual.shape().text(), x.rows(),
                weight.outputs());
}

// No product adds two: with both, the residual comes last.
template <class T>
Tensor value_of(const Context& context, ProductInput& x, const Layer& layer) {
  const bool both = present(layer.residual) && present(layer.bias);
  const bool adds_rows = present(layer.residual) && !both;
  const Tensor& addend = adds_rows ? layer.residual.value() : layer.bias.value();
  Tensor y = context.empty({x.x().rows(), layer.weight.outputs()}, x.x().dtype());
  multiply_forward<T>(context, x, layer.weight,
                      {.m = y.rows(),
                       .n = y.cols(),
                       .c = y.data<T>(),
                       .c_stride = y.cols(),
                       .addend = addend.defined() ? addend.data<T>() : nullptr,
                       .addend_stride = adds_rows ? y.cols() : 0});
  if (both) add_into(context, y, layer.residual.value(), y);
  return y;
}

template <class T>
StoreSums<T> store_to(const Destination& to) {
  T* c = to.tensor.data<T>();
  return {.m = to.tensor.rows(),
          .n = to.tensor.cols(),
          .c = c,
          .c_stride = to.tensor.cols(),
          .addend = to.output == Output::Accumulate ? c : nullptr,
          .addend_stride = to.tensor.cols()};
}

struct LinearSaved {
  std::shared_ptr<Input> input;
  Weight weight;
  Slot bias, residual;
};

template <class T>
void backward(const LinearSaved& saved, Gradients& gradients) {
  const Tensor& dy = gradients.dy();
  const Tensor& x = saved.input->values.x();
  const Var& weight = saved.weight.dense();
  if (saved.input->slot) {
    const Destination dx = gradients.target(saved.input->slot, x.shape(), x.dtype());
    multiply_backward<T>(gradients.context(), dy, saved.weight, store_to<T>(dx));
  }
  if (weight.wants_gradient()) {
    const Destination dw = gradients.target(weight.slot(), weight.shape(), weight.dtype());
    multiply_gradient<T>(gradients.context(), dy, saved.input->values, store_to<T>(dw));
  }
  if (saved.bias)
    add_column_sums(gradients.context(), dy, gradients.accumulator(saved.bias, {dy.cols()}, dy.dtype()));
  gradients.add(saved.residual, dy);
}

Var apply(const Context& context, const std::shared_ptr<Input>& input, const Layer& layer) {
  check(context, input->values.x(), layer);
  const DType dtype = input->values.x().dtype();
  Tensor y = with_compute_type(
      "linear", dtype, [&](auto zero) { return value_of<decltype(zero)>(context, input->values, layer); });
  const LinearSaved saved{input, layer.weight, layer.bias.slot(), layer.residual.slot()};
  return result(context, std::move(y), {input->slot, layer.weight.dense().slot(), saved.bias, saved.residual},
                [saved](Gradients& gradients) {
                  with_compute_type("linear", gradients.dy().dtype(),
                                    [&](auto zero) { backward<decltype(zero)>(saved, gradients); });
                });
}

std::vector<Var> apply_all(const Context& context, const Var& x, std::span<const Layer> layers) {
  const auto input = std::make_shared<Input>(x);
  std::vector<Var> results;
  for (const Layer& layer : layers) results.push_back(apply(context, input, layer));
  input->values.drop_forms();
  return results;
}

}  // namespace

Var linear(const Context& context, const Var& x, const LinearWeights& weights) {
  const Layer layer{weights.weight, weights.bias, {}};
  return apply_all(context, x, {&layer, 1}).front();
}

Var add_linear(const Context& context, const Var& residual, const Var& x, const LinearWeights& weights) {
  const Layer layer{weights.weight, weights.bias, residual};
  return apply_all(context, x, {&layer, 1}).front();
}

std::vector<Var> linears(const Context& context, const Var& x, std::span<const LinearWeights> layers) {
  std::vector<Layer> all;
  for (const LinearWeights& each : layers) all.push_back({each.weight, each.bias, {}});
  return apply_all(context, x, all);
}

}  // namespace sluice
