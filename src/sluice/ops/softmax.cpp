#include "sluice/ops/softmax.h"

namespace sluice {

Var softmax(const Context& context, const Var& x) {
  const Tensor y = context.empty_like(x.value());
  with_compute_type("softmax", x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const SoftmaxForward<T> args{.x = x.value().data<T>(), .width = y.cols(), .y = y.data<T>()};
    context.run(context.kernels<T>().softmax_forward, args, y.rows(), y.cols());
  });
  return result(context, y, {x.slot()}, [x = x.slot(), y](Gradients& gradients) {
    const Context& inner = gradients.context();
    Tensor dx = inner.empty_like(y);
    with_compute_type("softmax", y.dtype(), [&](auto zero) {
      using T = decltype(zero);
      const SoftmaxBackward<T> args{
          .y = y.data<T>(), .dy = gradients.dy().data<T>(), .width = y.cols(), .dx = dx.data<T>()};
      inner.run(inner.kernels<T>().softmax_backward, args, y.rows(), y.cols());
    });
    gradients.add(x, std::move(dx));
  });
}

}  // namespace sluice
