#include "sluice/ops/linear.h"

#include <algorithm>

#include "sluice/ops/arithmetic.h"
#include "sluice/ops/convert.h"
#include "sluice/ops/int8_linear.h"
#include "sluice/ops/matmul.h"
#include "sluice/ops/packed_weights.h"
#include "sluice/ops/weight_product.h"

namespace sluice {
namespace {

// Shapes: x [N, K], weight [M, K], y and dy [N, M].
struct Layer {
  Var weight, bias, residual;  // a default Var is none

  int64_t outputs() const { return weight.rows(); }
};

bool present(const Var& var) {
  return var.value().defined();
}

void check(const Var& x, const Layer& layer) {
  const Var& weight = layer.weight;
  SLUICE_ASSERT(x.cols() == weight.cols(), "linear: input has {} columns, weight {}", x.cols(),
                weight.cols());
  SLUICE_ASSERT(weight.dtype() == DType::BF16 || x.dtype() == weight.dtype(),
                "linear: input is {}, weight {}", name_of(x.dtype()), name_of(weight.dtype()));
  SLUICE_ASSERT(!present(layer.bias) || layer.bias.value().count() == layer.outputs(),
                "linear: bias {} for {} outputs", layer.bias.shape().text(), layer.outputs());
  SLUICE_ASSERT(!present(layer.residual) || layer.residual.shape() == Shape({x.rows(), layer.outputs()}),
                "linear: residual {} for {} rows of {} outputs", layer.residual.shape().text(), x.rows(),
                layer.outputs());
}

// What the layers of one input share: its packed forms, made by the first that needs them.
class Input {
 public:
  explicit Input(Var x) : x_(std::move(x)) {}

  const Var& x() const { return x_; }
  const PackedMatrix& rows(const Context& context) {
    if (!rows_.tiles.defined()) rows_ = packed_rows(context, x_.value(), TileFormat::A);
    return rows_;
  }
  const PackedMatrix& columns(const Context& context) {
    if (!columns_.tiles.defined()) columns_ = packed_columns(context, x_.value(), TileFormat::B);
    return columns_;
  }
  // Between the values and the gradients only x itself is kept.
  void forget_rows() { rows_ = {}; }

 private:
  Var x_;
  PackedMatrix rows_, columns_;
};

// Where a product that can only add to what is there finds its addend.
Destination prepared(const Context& context, const Layer& layer, const Shape& shape, DType dtype) {
  if (present(layer.residual))
    return {layer.residual.value().copy(context.engine.pool()), Output::Accumulate};
  if (!present(layer.bias)) return {context.empty(shape, dtype)};
  const Var bias(layer.bias.value());
  return {repeat_row(context.with_tape(nullptr), bias, shape.rows()).value(), Output::Accumulate};
}

StoreSums<float> store_to(const Tensor& y, const Layer& layer) {
  const Tensor& addend = present(layer.residual) ? layer.residual.value() : layer.bias.value();
  return {.m = y.rows(),
          .n = y.cols(),
          .c = y.data<float>(),
          .c_stride = y.cols(),
          .addend = addend.defined() ? addend.data<float>() : nullptr,
          .addend_stride = present(layer.residual) ? y.cols() : 0};
}

struct Share {
  int64_t count;
  int64_t step;  // of them at once
};

// Outputs are handed out a few at a time: a thread that the system holds up delays its own share alone.
template <class Args>
void run_few_rows(const Context& context, RangeKernel<Args> kernel, const Args& args, const Share& share) {
  const auto [count, step] = share;
  context.threads().each((count + step - 1) / step, [&, count = count, step = step](int64_t i) {
    kernel(args, {i * step, std::min(count, (i + 1) * step)});
  });
}

constexpr int64_t kOutputsAtOnce = 64;  // of 2048 bf16 weights each: about 20 microseconds of reading

template <class T, class W>
Tensor few_rows(const Context& context, RangeKernel<FewRowsProduct<T, W>> kernel, const Tensor& x,
                const Layer& layer) {
  const Destination y = prepared(context, layer, {x.rows(), layer.outputs()}, x.dtype());
  const FewRowsProduct<T, W> args{.rows = x.rows(),
                                  .k = x.cols(),
                                  .x = x.data<T>(),
                                  .weight = layer.weight.value().data<W>(),
                                  .y = y.tensor.data<T>(),
                                  .y_stride = layer.outputs(),
                                  .output = y.output};
  run_few_rows(context, kernel, args, {layer.outputs(), kOutputsAtOnce});
  return y.tensor;
}

// x rounded to bf16, as f32: what a bf16 product sees of it.
Tensor rounded(const Context& context, const Tensor& x) {
  return convert(context, convert(context, x, DType::BF16), DType::F32);
}

Tensor few_rows_bf16(const Context& context, const Tensor& x, const Layer& layer) {
  const Kernels<float>& kernels = context.kernels<float>();
  const PackedMatrix* packed =
      context.packed == nullptr ? nullptr : context.packed->find(layer.weight.value(), Transpose::Yes);
  const Tensor seen = rounded(context, x);
  if (packed == nullptr) return few_rows(context, kernels.few_rows_bf16, seen, layer);
  const Tensor y = context.empty({x.rows(), layer.outputs()}, DType::F32);
  const FewRowsTiles<float> args{.rows = x.rows(),
                                 .depth = x.cols(),
                                 .x = seen.data<float>(),
                                 .b = packed->tiles.data<Bf16>(),
                                 .y = store_to(y, layer)};
  const int64_t strips = (layer.outputs() + kTileRows - 1) / kTileRows;
  run_few_rows(context, kernels.few_rows_tiles, args, {strips, kOutputsAtOnce / kTileRows});
  return y;
}

Tensor multiply_tiles(const Context& context, Input& input, const Layer& layer) {
  const Tensor y = context.empty({input.x().rows(), layer.outputs()}, DType::F32);
  multiply_weight(context, input.rows(context), {layer.weight.value()}, store_to(y, layer));
  return y;
}

template <class T>
Tensor multiply_plain(const Context& context, const Tensor& x, const Layer& layer) {
  if (x.rows() < kFewRows) return few_rows(context, context.kernels<T>().few_rows, x, layer);
  const Destination y = prepared(context, layer, {x.rows(), layer.outputs()}, x.dtype());
  weight_product<T>(context, {.x = x.data<T>(),
                              .rows = x.rows(),
                              .weight = layer.weight.value(),
                              .y = y.tensor.data<T>(),
                              .output = y.output});
  return y.tensor;
}

// x · weightᵀ plus the residual, or without one the bias.
Tensor product(const Context& context, Input& input, const Layer& layer) {
  const Tensor& x = input.x().value();
  const bool narrow = layer.weight.dtype() == DType::BF16;
  SLUICE_ASSERT(!narrow || context.tape == nullptr, "linear: no gradient for a weight in bf16");
  if (narrow && x.rows() < kFewRows) return few_rows_bf16(context, x, layer);
  if (multiplies_tiles(context, layer.weight.value())) return multiply_tiles(context, input, layer);
  return with_compute_type("linear", x.dtype(),
                           [&](auto zero) { return multiply_plain<decltype(zero)>(context, x, layer); });
}

Tensor value_of(const Context& context, Input& input, const Layer& layer) {
  if (!present(layer.residual) || !present(layer.bias)) return product(context, input, layer);
  // No product adds two: the residual comes last.
  const Tensor y = product(context, input, {.weight = layer.weight, .bias = layer.bias, .residual = {}});
  add_into(context, y, layer.residual.value(), y);
  return y;
}

template <class T>
void input_gradient(Gradients& gradients, const Var& x, const Var& weight) {
  const Destination dx = gradients.target(x.slot(), x.shape(), x.dtype());
  weight_product<T>(gradients.context(), {.x = gradients.dy().data<T>(),
                                          .rows = x.rows(),
                                          .weight = weight.value(),
                                          .transpose = Transpose::No,
                                          .y = dx.tensor.data<T>(),
                                          .output = dx.output});
}

void weight_gradient_tiles(Gradients& gradients, Input& input, const Destination& dw) {
  const Context& context = gradients.context();
  const Tensor& dy = gradients.dy();
  multiply(context, packed_columns(context, dy, TileFormat::A), input.columns(context),
           {.m = dw.tensor.rows(),
            .n = dw.tensor.cols(),
            .c = dw.tensor.data<float>(),
            .c_stride = dw.tensor.cols(),
            .addend = dw.output == Output::Accumulate ? dw.tensor.data<float>() : nullptr,
            .addend_stride = dw.tensor.cols()});
}

template <class T>
void weight_gradient(Gradients& gradients, Input& input, const Var& weight) {
  const Destination dw = gradients.target(weight.slot(), weight.shape(), weight.dtype());
  if constexpr (std::is_same_v<T, float>) {
    if (gradients.context().precision == Precision::Bf16) return weight_gradient_tiles(gradients, input, dw);
  }
  const Tensor& dy = gradients.dy();
  matmul<T>(gradients.context(), {.m = dy.cols(),
                                  .n = weight.cols(),
                                  .k = dy.rows(),
                                  .a = dy.data<T>(),
                                  .a_stride = dy.cols(),
                                  .a_transpose = Transpose::Yes,
                                  .b = input.x().value().data<T>(),
                                  .b_stride = weight.cols(),
                                  .c = dw.tensor.data<T>(),
                                  .c_stride = weight.cols(),
                                  .output = dw.output});
}

Var recorded(const Context& context, const std::shared_ptr<Input>& input, const Layer& layer) {
  check(input->x(), layer);
  Tensor y = value_of(context, *input, layer);
  const auto backward = [input, weight = layer.weight, bias = layer.bias.slot(),
                         residual = layer.residual.slot()](Gradients& gradients) {
    const Tensor& dy = gradients.dy();
    const Var& x = input->x();
    with_compute_type("linear", dy.dtype(), [&](auto zero) {
      using T = decltype(zero);
      if (x.wants_gradient()) input_gradient<T>(gradients, x, weight);
      if (weight.wants_gradient()) weight_gradient<T>(gradients, *input, weight);
    });
    if (bias) add_column_sums(gradients.context(), dy, gradients.accumulator(bias, {dy.cols()}, dy.dtype()));
    gradients.add(residual, dy);
  };
  return result(context, std::move(y),
                {input->x().slot(), layer.weight.slot(), layer.bias.slot(), layer.residual.slot()}, backward);
}

Var single(const Context& context, const Var& x, const Layer& layer) {
  const auto input = std::make_shared<Input>(x);
  const Var y = recorded(context, input, layer);
  input->forget_rows();
  return y;
}

}  // namespace

Var linear(const Context& context, const Var& x, const LinearWeights& weights) {
  if (weights.int8) return int8_linear(context, x, weights);
  return single(context, x, {.weight = weights.weight, .bias = weights.bias, .residual = {}});
}

Var add_linear(const Context& context, const Var& residual, const Var& x, const LinearWeights& weights) {
  if (weights.int8) return int8_linear(context, x, weights, residual);
  return single(context, x, {.weight = weights.weight, .bias = weights.bias, .residual = residual});
}

std::vector<Var> linears(const Context& context, const Var& x, std::span<const LinearWeights> layers) {
  const auto input = std::make_shared<Input>(x);
  std::vector<Var> results;
  for (const LinearWeights& each : layers) {
    const Layer layer{.weight = each.weight, .bias = each.bias, .residual = {}};
    results.push_back(each.int8 ? int8_linear(context, x, each) : recorded(context, input, layer));
  }
  input->forget_rows();
  return results;
}

}  // namespace sluice
