#include "sluice/ops/norm_rope.h"

#include <algorithm>

#include "sluice/ops/arithmetic.h"

namespace sluice {
namespace {

struct NormRopeSaved {
  Var x, weight;
  Rotary rotary;
  Tensor inverse_rms;  // [N, heads]
  NormRopeOptions options;

  bool has_norm() const { return weight.value().defined(); }
  int64_t head_dim() const { return x.cols() / options.heads; }

  template <class T>
  NormWeight<T> norm_weight() const {
    if (!has_norm()) return {};
    return {.w = weight.value().data<T>(), .offset = static_cast<T>(options.norm.offset())};
  }

  template <class T>
  Rotation<T> rotation() const {
    return {.cos = rotary.table.cos.data<T>(),
            .sin = rotary.table.sin.data<T>(),
            .positions = rotary.positions.data<int32_t>(),
            .rotary = 2 * rotary.table.cos.cols()};
  }
};

void check(const NormRopeSaved& saved) {
  const auto& [x, weight, rotary, inverse_rms, options] = saved;
  const RopeTable& table = rotary.table;  // not bindings: clang 14 cannot capture those
  const Tensor& positions = rotary.positions;
  SLUICE_ASSERT(options.heads > 0 && x.cols() % options.heads == 0, "norm_rope: {} columns for {} heads",
                x.cols(), options.heads);
  SLUICE_ASSERT(!saved.has_norm() || weight.value().count() == saved.head_dim(),
                "norm_rope: weight {} for heads of {}", weight.shape().text(), saved.head_dim());
  SLUICE_ASSERT(2 * table.cos.cols() <= saved.head_dim(), "norm_rope: {} rotary channels in heads of {}",
                2 * table.cos.cols(), saved.head_dim());
  SLUICE_ASSERT(positions.count() == x.rows(), "norm_rope: {} positions for {} tokens", positions.count(),
                x.rows());
  SLUICE_ASSERT(std::ranges::all_of(positions.values<int32_t>(),
                                    [&](int32_t p) { return p >= 0 && p < table.cos.rows(); }),
                "norm_rope: a position lies outside the table of {}", table.cos.rows());
}

template <class T>
void backward(const NormRopeSaved& saved, Gradients& gradients) {
  const Context& context = gradients.context();
  const int64_t blocks = (saved.x.rows() + kNormBlock - 1) / kNormBlock;
  Tensor dx = context.empty_like(saved.x.value());
  const Tensor partial = context.empty({saved.has_norm() ? blocks : 0, saved.head_dim()}, dx.dtype());
  const NormRopeBackward<T> args{.x = saved.x.value().data<T>(),
                                 .weight = saved.norm_weight<T>(),
                                 .rotation = saved.rotation<T>(),
                                 .inverse_rms = saved.inverse_rms.data<T>(),
                                 .dy = gradients.dy().data<T>(),
                                 .tokens = saved.x.rows(),
                                 .heads = saved.options.heads,
                                 .head_dim = saved.head_dim(),
                                 .dx = dx.data<T>(),
                                 .dweight_blocks = partial.data<T>()};
  context.run(context.kernels<T>().norm_rope_backward, args, blocks, kNormBlock * saved.x.cols());
  gradients.add(saved.x.slot(), std::move(dx));
  if (!saved.weight.wants_gradient()) return;
  const Tensor dweight = gradients.accumulator(saved.weight.slot(), saved.weight.shape(), partial.dtype());
  add_column_sums(context, partial, dweight);
}

}  // namespace

Var norm_rope(const Context& context, const Var& x, const Var& weight, const Rotary& rotary,
              const NormRopeOptions& options) {
  const NormRopeSaved saved{x, weight, rotary, context.empty({x.rows(), options.heads}, x.dtype()), options};
  check(saved);
  Tensor y = context.empty_like(x.value());
  with_compute_type("norm_rope", x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const NormRopeForward<T> args{.x = x.value().data<T>(),
                                  .weight = saved.norm_weight<T>(),
                                  .eps = static_cast<T>(options.norm.eps),
                                  .rotation = saved.rotation<T>(),
                                  .heads = options.heads,
                                  .head_dim = saved.head_dim(),
                                  .y = y.data<T>(),
                                  .inverse_rms = saved.inverse_rms.data<T>()};
    context.run(context.kernels<T>().norm_rope_forward, args, x.rows(), x.cols());
  });
  return result(context, std::move(y), {x.slot(), weight.slot()}, [saved](Gradients& gradients) {
    with_compute_type("norm_rope", saved.x.dtype(),
                      [&](auto zero) { backward<decltype(zero)>(saved, gradients); });
  });
}

}  // namespace sluice
