// Sums run over tokens in their order, in f64: E values a token are too few to be worth threads.
#include "sluice/ops/router_loss.h"

#include <vector>

namespace sluice {
namespace {

double per_row(const Tensor& x) {
  return x.rows() == 0 ? 0.0 : 1.0 / static_cast<double>(x.rows());
}

template <class T>
T scalar_of(const Tensor& x) {
  return *x.data<T>();
}

// log Σ e^x of each row, [N].
template <class T>
Tensor log_sums(const Context& context, const Tensor& scores) {
  const Tensor sums = context.empty({scores.rows()}, scores.dtype()), unused = context.empty_like(sums);
  const Tensor targets = context.empty({scores.rows()}, DType::I32);
  std::ranges::fill(targets.values<int32_t>(), kIgnoredTarget);
  const CrossEntropyForward<T> args{.logits = scores.data<T>(),
                                    .targets = targets.data<int32_t>(),
                                    .vocabulary = scores.cols(),
                                    .loss = unused.data<T>(),
                                    .log_sum_exp = sums.data<T>()};
  context.run(context.kernels<T>().cross_entropy_forward, args, scores.rows(), scores.cols());
  return sums;
}

// d lse² = 2 · lse · softmax(scores).
template <class T>
Tensor square_gradient(const Context& context, const Tensor& scores, const Tensor& sums, double factor) {
  const Tensor dscores = context.empty_like(scores);
  const int64_t width = scores.cols();
  const Kernels<T>& kernels = context.kernels<T>();
  context.run(kernels.softmax_forward,
              SoftmaxForward<T>{.x = scores.data<T>(), .width = width, .y = dscores.data<T>()}, scores.rows(),
              width);
  for (int64_t t = 0; t < scores.rows(); ++t) {
    T* row = dscores.data<T>() + t * width;
    kernels.scale({.x = row, .y = row, .factor = static_cast<T>(2 * factor * sums.data<T>()[t])}, {0, width});
  }
  return dscores;
}

}  // namespace

Var weighted_mean(const Context& context, const Var& probabilities, std::span<const double> shares) {
  const Tensor& p = probabilities.value();
  SLUICE_ASSERT(std::ssize(shares) == p.cols(), "weighted_mean: {} shares for {}", shares.size(),
                p.shape().text());
  const Tensor y = context.empty({}, p.dtype());
  with_compute_type("weighted_mean", p.dtype(), [&](auto zero) {
    using T = decltype(zero);
    double sum = 0;
    for (int64_t i = 0; i < p.count(); ++i)
      sum += shares[static_cast<size_t>(i % p.cols())] * double{p.data<T>()[i]};
    *y.data<T>() = static_cast<T>(sum * per_row(p));
  });
  return result(context, y, {probabilities.slot()},
                [probabilities, kept = std::vector(shares.begin(), shares.end())](Gradients& gradients) {
                  const Tensor& values = probabilities.value();
                  Tensor dp = gradients.context().empty_like(values);
                  with_compute_type("weighted_mean", values.dtype(), [&](auto zero) {
                    using T = decltype(zero);
                    const double factor = per_row(values) * double{scalar_of<T>(gradients.dy())};
                    for (int64_t i = 0; i < dp.count(); ++i)
                      dp.data<T>()[i] = static_cast<T>(factor * kept[static_cast<size_t>(i % dp.cols())]);
                  });
                  gradients.add(probabilities.slot(), std::move(dp));
                });
}

Var mean_square_log_sum(const Context& context, const Var& scores) {
  const Tensor y = context.empty({}, scores.dtype());
  const Tensor sums = with_compute_type("z-loss", scores.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Tensor logs = log_sums<T>(context, scores.value());
    double total = 0;
    for (const T log : logs.values<T>()) total += double{log} * double{log};
    *y.data<T>() = static_cast<T>(total * per_row(scores.value()));
    return logs;
  });
  return result(context, y, {scores.slot()}, [scores, sums](Gradients& gradients) {
    with_compute_type("z-loss", scores.dtype(), [&](auto zero) {
      using T = decltype(zero);
      const double factor = per_row(scores.value()) * double{scalar_of<T>(gradients.dy())};
      gradients.add(scores.slot(), square_gradient<T>(gradients.context(), scores.value(), sums, factor));
    });
  });
}

}  // namespace sluice
