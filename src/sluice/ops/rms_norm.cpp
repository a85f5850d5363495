#include "sluice/ops/rms_norm.h"

#include "sluice/ops/arithmetic.h"

namespace sluice {
namespace {

struct RmsNormSaved {
  Var x, weight;
  Tensor inverse_rms;  // [N]
  NormOptions options;
};

template <class T>
void backward(const RmsNormSaved& saved, Gradients& gradients) {
  const Context& context = gradients.context();
  const int64_t rows = saved.x.rows();
  const int64_t width = saved.x.cols();
  const int64_t blocks = (rows + kNormBlock - 1) / kNormBlock;
  Tensor dx = context.empty_like(saved.x.value());
  const Tensor partial = context.empty({blocks, width}, dx.dtype());
  const RmsNormBackward<T> args{
      .x = saved.x.value().data<T>(),
      .weight = {.w = saved.weight.value().data<T>(), .offset = static_cast<T>(saved.options.offset())},
      .inverse_rms = saved.inverse_rms.data<T>(),
      .dy = gradients.dy().data<T>(),
      .rows = rows,
      .width = width,
      .dx = dx.data<T>(),
      .dweight_blocks = partial.data<T>()};
  context.run(context.kernels<T>().rms_norm_backward, args, blocks, kNormBlock * width);
  gradients.add(saved.x.slot(), std::move(dx));
  if (!saved.weight.wants_gradient()) return;
  const Tensor dweight = gradients.accumulator(saved.weight.slot(), saved.weight.shape(), partial.dtype());
  add_column_sums(context, partial, dweight);
}

}  // namespace

Var rms_norm(const Context& context, const Var& x, const Var& weight, const NormOptions& options) {
  SLUICE_ASSERT(weight.value().count() == x.cols(), "rms_norm: weight {} for rows of {}",
                weight.shape().text(), x.cols());
  Tensor y = context.empty_like(x.value());
  const RmsNormSaved saved{x, weight, context.empty({x.rows()}, x.dtype()), options};
  with_compute_type("rms_norm", x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const RmsNormForward<T> args{
        .x = x.value().data<T>(),
        .weight = {.w = weight.value().data<T>(), .offset = static_cast<T>(options.offset())},
        .width = x.cols(),
        .eps = static_cast<T>(options.eps),
        .y = y.data<T>(),
        .inverse_rms = saved.inverse_rms.data<T>()};
    context.run(context.kernels<T>().rms_norm_forward, args, x.rows(), args.width);
  });
  return result(context, std::move(y), {x.slot(), weight.slot()}, [saved](Gradients& gradients) {
    with_compute_type("rms_norm", saved.x.dtype(),
                      [&](auto zero) { backward<decltype(zero)>(saved, gradients); });
  });
}

}  // namespace sluice
