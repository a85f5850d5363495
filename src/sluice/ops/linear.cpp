#include "sluice/ops/linear.h"

#include <algorithm>

#include "sluice/ops/arithmetic.h"
#include "sluice/ops/bf16_matmul.h"
#include "sluice/ops/convert.h"
#include "sluice/ops/matmul.h"

namespace sluice {
namespace {

// Shapes: x [N, K], weight [M, K], y and dy [N, M].
struct Sizes {
  int64_t n, m, k;
};

// y starts as the bias in every row, and the product is added to it.
Tensor biased_rows(const Context& context, const Var& bias, int64_t rows) {
  return repeat_row(context.with_tape(nullptr), Var(bias.value()), rows).value();
}

template <class T, class W>
FewRowsProduct<T, W> few_rows_of(const Sizes& sizes, const Var& x, const Var& weight, const Destination& y) {
  return {.rows = sizes.n,
          .k = sizes.k,
          .x = x.value().data<T>(),
          .weight = weight.value().data<W>(),
          .y = y.tensor.data<T>(),
          .y_stride = sizes.m,
          .output = y.output};
}

// Outputs are handed out a few at a time: a thread that the system holds up delays its own share alone.
template <class Args>
void run_few_rows(const Context& context, RangeKernel<Args> kernel, const Args& args, int64_t outputs) {
  constexpr int64_t kTile = 64;  // of 2048 bf16 weights each: about 20 microseconds of reading
  context.threads().each((outputs + kTile - 1) / kTile, [&](int64_t tile) {
    kernel(args, {tile * kTile, std::min(outputs, (tile + 1) * kTile)});
  });
}

template <class T>
void multiply(const Context& context, const Sizes& sizes, const Var& x, const Var& weight,
              const Destination& y) {
  if (sizes.n < kFewRows && context.precision == Precision::F32) {
    return run_few_rows(context, context.kernels<T>().few_rows, few_rows_of<T, T>(sizes, x, weight, y),
                        sizes.m);
  }
  matmul<T>(context, {.m = sizes.n,
                      .n = sizes.m,
                      .k = sizes.k,
                      .a = x.value().data<T>(),
                      .a_stride = sizes.k,
                      .b = weight.value().data<T>(),
                      .b_stride = sizes.k,
                      .b_transpose = Transpose::Yes,
                      .c = y.tensor.data<T>(),
                      .c_stride = sizes.m,
                      .output = y.output});
}

// x rounded to bf16, as f32: what a bf16 product sees of it.
Var rounded(const Context& context, const Var& x) {
  return Var(convert(context, convert(context, x.value(), DType::BF16), DType::F32));
}

void multiply_bf16(const Context& context, const Sizes& sizes, const Var& x, const Var& weight,
                   const Destination& y) {
  if (sizes.n < kFewRows) {
    const Kernels<float>& kernels = context.kernels<float>();
    return run_few_rows(context, kernels.few_rows_bf16,
                        few_rows_of<float, Bf16>(sizes, rounded(context, x), weight, y), sizes.m);
  }
  bf16_matmul(context,
              {.m = sizes.n,
               .n = sizes.m,
               .k = sizes.k,
               .a = {.f32 = x.value().data<float>(), .stride = sizes.k},
               .b = {.bf16 = weight.value().data<Bf16>(), .stride = sizes.k, .transpose = Transpose::Yes},
               .c = y.tensor.data<float>(),
               .c_stride = sizes.m,
               .output = y.output});
}

template <class T>
void input_gradient(Gradients& gradients, const Sizes& sizes, const Var& x, const Var& weight) {
  const Destination dx = gradients.target(x.slot(), x.shape(), x.dtype());
  matmul<T>(gradients.context(), {.m = sizes.n,
                                  .n = sizes.k,
                                  .k = sizes.m,
                                  .a = gradients.dy().data<T>(),
                                  .a_stride = sizes.m,
                                  .b = weight.value().data<T>(),
                                  .b_stride = sizes.k,
                                  .c = dx.tensor.data<T>(),
                                  .c_stride = sizes.k,
                                  .output = dx.output});
}

template <class T>
void weight_gradient(Gradients& gradients, const Sizes& sizes, const Var& x, const Var& weight) {
  const Destination dw = gradients.target(weight.slot(), weight.shape(), weight.dtype());
  matmul<T>(gradients.context(), {.m = sizes.m,
                                  .n = sizes.k,
                                  .k = sizes.n,
                                  .a = gradients.dy().data<T>(),
                                  .a_stride = sizes.m,
                                  .a_transpose = Transpose::Yes,
                                  .b = x.value().data<T>(),
                                  .b_stride = sizes.k,
                                  .c = dw.tensor.data<T>(),
                                  .c_stride = sizes.k,
                                  .output = dw.output});
}

}  // namespace

Var linear(const Context& context, const Var& x, const Var& weight, const Var& bias) {
  const Sizes sizes{.n = x.rows(), .m = weight.rows(), .k = weight.cols()};
  const bool biased = bias.value().defined();
  SLUICE_ASSERT(x.cols() == sizes.k, "linear: input has {} columns, weight {}", x.cols(), sizes.k);
  const bool bf16 = weight.dtype() == DType::BF16 && x.dtype() == DType::F32;
  SLUICE_ASSERT(bf16 || x.dtype() == weight.dtype(), "linear: input is {}, weight {}", name_of(x.dtype()),
                name_of(weight.dtype()));
  SLUICE_ASSERT(!biased || bias.value().count() == sizes.m, "linear: bias {} for {} outputs",
                bias.shape().text(), sizes.m);
  const Destination y = biased ? Destination{biased_rows(context, bias, sizes.n), Output::Accumulate}
                               : Destination{context.empty({sizes.n, sizes.m}, x.dtype())};
  if (bf16) {
    SLUICE_ASSERT(context.tape == nullptr, "linear: no gradient for a weight in bf16");
    multiply_bf16(context, sizes, x, weight, y);
    return Var(y.tensor);
  }
  with_compute_type("linear", x.dtype(),
                    [&](auto zero) { multiply<decltype(zero)>(context, sizes, x, weight, y); });
  return result(context, y.tensor, {x.slot(), weight.slot(), bias.slot()},
                [x, weight, bias = bias.slot(), sizes](Gradients& gradients) {
                  const Tensor& dy = gradients.dy();
                  with_compute_type("linear", dy.dtype(), [&](auto zero) {
                    using T = decltype(zero);
                    if (x.wants_gradient()) input_gradient<T>(gradients, sizes, x, weight);
                    if (weight.wants_gradient()) weight_gradient<T>(gradients, sizes, x, weight);
                  });
                  if (!bias) return;
                  add_column_sums(gradients.context(), dy,
                                  gradients.accumulator(bias, {sizes.m}, dy.dtype()));
                });
}

}  // namespace sluice
