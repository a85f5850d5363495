#include "sluice/bench/case_runner.h"

#include "sluice/base/log.h"
#include "sluice/base/median.h"
#include "sluice/base/random.h"
#include "sluice/base/stopwatch.h"
#include "sluice/kernels/blas/gemm.h"

namespace sluice::bench {

void CaseRunner::add(const Case& measured_case) {
  if (control_.log != nullptr) control_.log->info("{} {}", measured_case.name, measured_case.shape);
  measured_case.work.seconds();
  rows_.push_back({.name = measured_case.name,
                   .shape = measured_case.shape,
                   .compute = compute_of(measured_case),
                   .measured = measure(meter_, measured_case.work, request_.repetitions, control_),
                   .openblas = openblas_rate(measured_case.openblas)});
}

std::vector<CaseShape> CaseRunner::shapes(std::vector<CaseShape> usual) const {
  return request_.shapes.empty() ? std::move(usual) : request_.shapes;
}

Table CaseRunner::table(std::string what, std::string counted) const {
  return {.what = std::move(what),
          .precision = request_.precision,
          .isa = engine_.isa().isa,
          .threads = engine_.threads().count(),
          .repetitions = request_.repetitions,
          .counted = std::move(counted),
          .rows = rows_};
}

Precision CaseRunner::compute_of(const Case& measured_case) const {
  const bool arithmetic = measured_case.work.bound.peak != Peak::ReadBandwidth;
  return measured_case.compute.value_or(arithmetic ? request_.precision : Precision::F32);
}

// After the case itself: OpenBLAS's threads spin for a while before they sleep.
std::optional<double> CaseRunner::openblas_rate(const std::vector<Gemm<float>>& products) const {
  if (products.empty()) return {};
  const blas::OwnThreads own(engine_.threads().count());
  const auto all = [&] {
    for (const Gemm<float>& product : products) blas::gemm(product);
  };
  all();
  std::vector<double> seconds;
  for (int i = 0; i < request_.repetitions; ++i) {
    control_.stop_if_cancelled();
    seconds.push_back(seconds_of(all));
  }
  double total = 0;
  for (const Gemm<float>& product : products) total += operations(product);
  return total / median(seconds);
}

Tensor random_matrix(const Context& context, int64_t rows, int64_t cols) {
  const Tensor matrix = context.empty({rows, cols}, DType::F32);
  const Random random(1);
  context.threads().split(matrix.count(), 1, [&](Range range) {
    const auto part =
        matrix.values<float>().subspan(static_cast<size_t>(range.begin), static_cast<size_t>(range.size()));
    random.fill_uniform(part, static_cast<uint64_t>(range.begin), -1.0F, 1.0F);
  });
  return matrix;
}

Gemm<float> forward_product(const Tensor& x, const Tensor& weight, const Tensor& y) {
  return {.m = x.rows(),
          .n = weight.rows(),
          .k = x.cols(),
          .a = x.data<float>(),
          .a_stride = x.cols(),
          .b = weight.data<float>(),
          .b_stride = weight.cols(),
          .b_transpose = Transpose::Yes,
          .c = y.data<float>(),
          .c_stride = y.cols()};
}

Gemm<float> input_gradient(const Tensor& dy, const Tensor& weight, const Tensor& dx) {
  return {.m = dy.rows(),
          .n = weight.cols(),
          .k = weight.rows(),
          .a = dy.data<float>(),
          .a_stride = dy.cols(),
          .b = weight.data<float>(),
          .b_stride = weight.cols(),
          .c = dx.data<float>(),
          .c_stride = dx.cols()};
}

Gemm<float> weight_gradient(const Tensor& dy, const Tensor& x, const Tensor& dweight) {
  return {.m = dy.cols(),
          .n = x.cols(),
          .k = x.rows(),
          .a = dy.data<float>(),
          .a_stride = dy.cols(),
          .a_transpose = Transpose::Yes,
          .b = x.data<float>(),
          .b_stride = x.cols(),
          .c = dweight.data<float>(),
          .c_stride = dweight.cols()};
}

double operations(const Gemm<float>& product) {
  return 2.0 * static_cast<double>(product.m) * static_cast<double>(product.n) *
         static_cast<double>(product.k);
}

}  // namespace sluice::bench
