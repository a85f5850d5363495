#include "sluice/ops/gate.h"

#include <algorithm>

namespace sluice {
namespace {

struct GateSaved {
  Var x, scores;
  GateShape shape;
  Tensor mean;  // [N, score_width] if shared, else undefined

  template <class T>
  T* mean_data() const {
    return mean.defined() ? mean.data<T>() : nullptr;
  }
};

template <class T>
void backward(const GateSaved& saved, Gradients& gradients) {
  const Context& context = gradients.context();
  Tensor dx = context.empty_like(saved.x.value());
  Tensor dscores = context.empty_like(saved.scores.value());
  const GateBackward<T> args{.shape = saved.shape,
                             .x = saved.x.value().data<T>(),
                             .scores = saved.scores.value().data<T>(),
                             .mean = saved.mean_data<T>(),
                             .dy = gradients.dy().data<T>(),
                             .dx = dx.data<T>(),
                             .dscores = dscores.data<T>()};
  context.run(context.kernels<T>().gate_backward, args, dx.rows(), dx.cols());
  gradients.add(saved.x.slot(), std::move(dx));
  gradients.add(saved.scores.slot(), std::move(dscores));
}

// The gradient of a gate that multiplies ones: d(1 · a) is da.
template <class T>
void backward_of_values(const Var& scores, const GateShape& shape, Gradients& gradients) {
  const Context& context = gradients.context();
  const Tensor ones = context.empty_like(scores.value());
  std::ranges::fill(ones.values<T>(), T(1));
  GateSaved saved{Var(ones), scores, shape, {}};
  // Only the gradient of the ones would need it.
  if (shape.form.sharing == Sharing::Shared)
    saved.mean = context.zeros({scores.rows(), shape.score_width()}, scores.dtype());
  backward<T>(saved, gradients);
}

}  // namespace

Var gate(const Context& context, const Var& x, const Var& scores, int64_t heads, const GateForm& form) {
  SLUICE_ASSERT(heads > 0 && x.cols() % heads == 0, "gate: {} columns for {} heads", x.cols(), heads);
  const GateShape shape{.heads = heads, .head_dim = x.cols() / heads, .form = form};
  SLUICE_ASSERT(scores.rows() == x.rows() && scores.cols() == heads * shape.score_width(),
                "gate: scores {} for {}, expected {} columns", scores.shape().text(), x.shape().text(),
                heads * shape.score_width());
  GateSaved saved{x, scores, shape, {}};
  if (form.sharing == Sharing::Shared) saved.mean = context.empty({x.rows(), shape.score_width()}, x.dtype());
  Tensor y = context.empty_like(x.value());
  with_compute_type("gate", x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const GateForward<T> args{.shape = shape,
                              .x = x.value().data<T>(),
                              .scores = scores.value().data<T>(),
                              .y = y.data<T>(),
                              .mean = saved.mean_data<T>()};
    context.run(context.kernels<T>().gate_forward, args, x.rows(), x.cols());
  });
  return result(context, std::move(y), {x.slot(), scores.slot()}, [saved](Gradients& gradients) {
    with_compute_type("gate", saved.x.dtype(),
                      [&](auto zero) { backward<decltype(zero)>(saved, gradients); });
  });
}

Var gate_values(const Context& context, const Var& scores, int64_t heads, const GateForm& form) {
  SLUICE_ASSERT(heads > 0 && scores.cols() % heads == 0, "gate_values: {} columns for {} heads",
                scores.cols(), heads);
  const int64_t width = scores.cols() / heads;
  SLUICE_ASSERT(form.granularity == Granularity::Elementwise || width == 1,
                "gate_values: {} scores per head of a headwise gate", width);
  // Values are applied to nothing: a head is as wide as its scores, and how they are applied does not matter.
  const GateShape shape{
      .heads = heads, .head_dim = width, .form = {.activation = form.activation, .sharing = form.sharing}};
  Tensor values = context.empty_like(scores.value());
  with_compute_type("gate_values", scores.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const GateValues<T> args{.shape = shape, .scores = scores.value().data<T>(), .values = values.data<T>()};
    context.run(context.kernels<T>().gate_values, args, scores.rows(), scores.cols());
  });
  return result(context, std::move(values), {scores.slot()}, [scores, shape](Gradients& gradients) {
    with_compute_type("gate_values", scores.dtype(),
                      [&](auto zero) { backward_of_values<decltype(zero)>(scores, shape, gradients); });
  });
}

}  // namespace sluice
