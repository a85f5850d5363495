#include "sluice/ops/swiglu.h"

namespace sluice {

Var swiglu(const Context& context, const Var& gate, const Var& up) {
  SLUICE_ASSERT(gate.shape() == up.shape(), "swiglu: gate {} and up {}", gate.shape().text(),
                up.shape().text());
  Tensor y = context.empty_like(gate.value());
  with_compute_type("swiglu", gate.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const SwigluForward<T> args{.gate = gate.value().data<T>(), .up = up.value().data<T>(), .y = y.data<T>()};
    context.run(context.kernels<T>().swiglu_forward, args, y.count(), 1);
  });
  return result(context, std::move(y), {gate.slot(), up.slot()}, [gate, up](Gradients& gradients) {
    const Context& inner = gradients.context();
    Tensor dgate = inner.empty_like(gate.value());
    Tensor dup = inner.empty_like(up.value());
    with_compute_type("swiglu", dgate.dtype(), [&](auto zero) {
      using T = decltype(zero);
      const SwigluBackward<T> args{.gate = gate.value().data<T>(),
                                   .up = up.value().data<T>(),
                                   .dy = gradients.dy().data<T>(),
                                   .dgate = dgate.data<T>(),
                                   .dup = dup.data<T>()};
      inner.run(inner.kernels<T>().swiglu_backward, args, dgate.count(), 1);
    });
    gradients.add(gate.slot(), std::move(dgate));
    gradients.add(up.slot(), std::move(dup));
  });
}

}  // namespace sluice
