#include "sluice/ops/arithmetic.h"

#include <numeric>

namespace sluice {
namespace {

Tensor scaled(const Context& context, const Tensor& x, double factor) {
  Tensor y = context.empty_like(x);
  with_compute_type("scale", x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Scale<T> args{.x = x.data<T>(), .y = y.data<T>(), .factor = static_cast<T>(factor)};
    context.run(context.kernels<T>().scale, args, x.count(), 1);
  });
  return y;
}

double value_of_scalar(const Tensor& x) {
  return x.dtype() == DType::F64 ? *x.data<double>() : *x.data<float>();
}

}  // namespace

void add_into(const Context& context, const Tensor& sum, const Tensor& a, const Tensor& b) {
  SLUICE_ASSERT(a.shape() == b.shape() && a.dtype() == b.dtype(), "add: {} {} and {} {}", a.shape().text(),
                name_of(a.dtype()), b.shape().text(), name_of(b.dtype()));
  with_compute_type("add", a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const ScaledAdd<T> args{.a = a.data<T>(), .b = b.data<T>(), .y = sum.data<T>()};
    context.run(context.kernels<T>().scaled_add, args, a.count(), 1);
  });
}

void add_column_sums(const Context& context, const Tensor& x, const Tensor& total) {
  SLUICE_ASSERT(total.count() == x.cols(), "column sum: {} into {}", x.shape().text(), total.shape().text());
  with_compute_type("column sum", x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const ColumnSum<T> args{.x = x.data<T>(), .rows = x.rows(), .cols = x.cols(), .y = total.data<T>()};
    context.run(context.kernels<T>().column_sum, args, x.cols(), x.rows());
  });
}

double sum(const Context& context, const Tensor& x) {
  const int64_t blocks = (x.count() + kSumBlock - 1) / kSumBlock;
  const Tensor partial = context.empty({blocks}, x.dtype());
  return with_compute_type("sum", x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const BlockSum<T> args{.x = x.data<T>(), .count = x.count(), .sums = partial.data<T>()};
    context.run(context.kernels<T>().block_sum, args, blocks, kSumBlock);
    const auto values = partial.values<T>();
    return std::accumulate(values.begin(), values.end(), 0.0);
  });
}

Var add(const Context& context, const Var& x, const Var& y) {
  Tensor total = context.empty_like(x.value());
  add_into(context, total, x.value(), y.value());
  return result(context, std::move(total), {x.slot(), y.slot()},
                [x = x.slot(), y = y.slot()](Gradients& gradients) {
                  gradients.add(x, gradients.dy());
                  gradients.add(y, gradients.dy());
                });
}

Var scale(const Context& context, const Var& x, double factor) {
  return result(context, scaled(context, x.value(), factor), {x.slot()},
                [x = x.slot(), factor](Gradients& gradients) {
                  gradients.add(x, scaled(gradients.context(), gradients.dy(), factor));
                });
}

Var mean(const Context& context, const Var& x) {
  const double share = x.value().count() == 0 ? 0.0 : 1.0 / static_cast<double>(x.value().count());
  Tensor y = context.empty({}, x.dtype());
  with_compute_type("mean", x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    *y.data<T>() = static_cast<T>(sum(context, x.value()) * share);
  });
  return result(
      context, std::move(y), {x.slot()}, [x = x.slot(), shape = x.shape(), share](Gradients& gradients) {
        Tensor dx = gradients.context().empty(shape, gradients.dy().dtype());
        with_compute_type("mean", dx.dtype(), [&](auto zero) {
          using T = decltype(zero);
          std::ranges::fill(dx.values<T>(), static_cast<T>(value_of_scalar(gradients.dy()) * share));
        });
        gradients.add(x, std::move(dx));
      });
}

Var repeat_row(const Context& context, const Var& x, int64_t rows) {
  SLUICE_ASSERT(x.rows() == 1, "repeat_row: {} is not a row", x.shape().text());
  Tensor y = context.empty({rows, x.cols()}, x.dtype());
  with_compute_type("repeat_row", x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const RepeatRow<T> args{.x = x.value().data<T>(), .cols = x.cols(), .y = y.data<T>()};
    context.run(context.kernels<T>().repeat_row, args, rows, x.cols());
  });
  return result(context, std::move(y), {x.slot()}, [x = x.slot(), shape = x.shape()](Gradients& gradients) {
    const Tensor& dy = gradients.dy();
    add_column_sums(gradients.context(), dy, gradients.accumulator(x, shape, dy.dtype()));
  });
}

Tensor repeat_rows(const Context& context, const Tensor& x, int64_t count) {
  Tensor y = context.empty({count * x.rows(), x.cols()}, x.dtype());
  with_compute_type("repeat_rows", x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    context.threads().split(count, 1, [&](Range copies) {
      for (int64_t i = copies.begin; i < copies.end; ++i)
        std::copy_n(x.data<T>(), x.count(), y.data<T>() + i * x.count());
    });
  });
  return y;
}

}  // namespace sluice
