#include "sluice/ops/take_columns.h"

namespace sluice {
namespace {

// Copies the first `count` columns of every row.
template <class T>
void copy_columns(const Tensor& from, const Tensor& to, int64_t count) {
  for (int64_t row = 0; row < from.rows(); ++row) {
    std::copy_n(from.data<T>() + row * from.cols(), count, to.data<T>() + row * to.cols());
  }
}

}  // namespace

Var take_columns(const Context& context, const Var& x, int64_t count) {
  SLUICE_ASSERT(count >= 0 && count <= x.cols(), "take_columns: {} of {}", count, x.cols());
  Tensor y = context.empty({x.rows(), count}, x.dtype());
  with_compute_type("take_columns", x.dtype(),
                    [&](auto zero) { copy_columns<decltype(zero)>(x.value(), y, count); });
  return result(
      context, std::move(y), {x.slot()}, [x = x.slot(), shape = x.shape(), count](Gradients& gradients) {
        Tensor dx = gradients.context().zeros(shape, gradients.dy().dtype());
        with_compute_type("take_columns", dx.dtype(),
                          [&](auto zero) { copy_columns<decltype(zero)>(gradients.dy(), dx, count); });
        gradients.add(x, std::move(dx));
      });
}

}  // namespace sluice
