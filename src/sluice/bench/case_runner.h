// Measures the cases of a table one after the other. Only benchmarks include this.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sluice/bench/table.h"
#include "sluice/kernels/gemm.h"

namespace sluice::bench {

struct Case {
  std::string name, shape;
  Work work;
  // What the operands of products really are; none: what was asked for, or f32 if memory is the bound.
  std::optional<Precision> compute = {};
  std::vector<Gemm<float>> openblas = {};  // done one after the other; none: no comparison
};

class CaseRunner {
 public:
  CaseRunner(Engine& engine, const TableRequest& request, const JobControl& control)
      : engine_(engine), request_(request), control_(control), meter_(peak_meter(engine)) {}

  Context context() const { return {.engine = engine_, .precision = request_.precision}; }
  Bound arithmetic() const { return arithmetic_bound(engine_, request_.precision); }

  // Runs the case once, so that its memory is there, then measures it.
  void add(const Case& measured_case);

  // The shapes asked for, or else the usual ones.
  std::vector<CaseShape> shapes(std::vector<CaseShape> usual) const;

  // All rows so far; `counted` says what their rates count.
  Table table(std::string what, std::string counted) const;

 private:
  Precision compute_of(const Case& measured_case) const;
  std::optional<double> openblas_rate(const std::vector<Gemm<float>>& products) const;

  Engine& engine_;
  const TableRequest& request_;
  const JobControl& control_;
  PeakMeter meter_;
  std::vector<Row> rows_;
};

// Uniform numbers in [-1, 1).
Tensor random_matrix(const Context& context, int64_t rows, int64_t cols);

// The products of a linear layer on f32 tensors, which must outlive them:
// x [M, K], weight [N, K], y and dy [M, N].
Gemm<float> forward_product(const Tensor& x, const Tensor& weight, const Tensor& y);
Gemm<float> input_gradient(const Tensor& dy, const Tensor& weight, const Tensor& dx);
Gemm<float> weight_gradient(const Tensor& dy, const Tensor& x, const Tensor& dweight);

double operations(const Gemm<float>& product);

}  // namespace sluice::bench
