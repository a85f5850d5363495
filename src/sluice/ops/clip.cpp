#include "sluice/ops/clip.h"

namespace sluice {

Var clip(const Context& context, const Var& x, double limit) {
  SLUICE_ASSERT(limit >= 0, "clip: limit {}", limit);
  Tensor y = context.empty_like(x.value());
  with_compute_type("clip", x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const ClipForward<T> args{.x = x.value().data<T>(), .y = y.data<T>(), .limit = static_cast<T>(limit)};
    context.run(context.kernels<T>().clip_forward, args, y.count(), 1);
  });
  return result(context, std::move(y), {x.slot()}, [x, limit](Gradients& gradients) {
    const Context& inner = gradients.context();
    Tensor dx = inner.empty_like(x.value());
    with_compute_type("clip", x.dtype(), [&](auto zero) {
      using T = decltype(zero);
      const ClipBackward<T> args{.x = x.value().data<T>(),
                                 .dy = gradients.dy().data<T>(),
                                 .dx = dx.data<T>(),
                                 .limit = static_cast<T>(limit)};
      inner.run(inner.kernels<T>().clip_backward, args, dx.count(), 1);
    });
    gradients.add(x.slot(), std::move(dx));
  });
}

}  // namespace sluice
