// The products of a linear layer, forward and both gradients.
// Shapes: x [M, K], weight [N, K], y and dy [M, N].
#include "sluice/base/stopwatch.h"
#include "sluice/bench/case_runner.h"
#include "sluice/ops/matmul.h"

namespace sluice::bench {
namespace {

// Projections and feed-forward part of the 51M model, a feed-forward part of the 1.7B one, an output layer.
const std::vector<CaseShape> kGemmShapes = {
    {4096, 512, 512}, {4096, 1376, 512}, {512, 6144, 2048}, {4096, 32000, 512}};

void add_product(CaseRunner& runner, const char* name, const CaseShape& shape, const Gemm<float>& product) {
  runner.add(
      {.name = name,
       .shape = shape.text(),
       .work = {.amount = operations(product),
                .bound = runner.arithmetic(),
                .seconds = [&] { return seconds_of([&] { matmul<float>(runner.context(), product); }); }},
       .openblas = {product}});
}

void add_layer(CaseRunner& runner, const CaseShape& shape) {
  const auto [m, n, k] = shape;
  const Context context = runner.context();
  const Tensor x = random_matrix(context, m, k);
  const Tensor weight = random_matrix(context, n, k);
  const Tensor y = random_matrix(context, m, n);  // its own gradient, too: values make no product faster
  const Tensor dx = context.empty_like(x);
  const Tensor dweight = context.zeros(weight.shape(), DType::F32);
  Gemm<float> accumulated = weight_gradient(y, x, dweight);
  accumulated.output = Output::Accumulate;  // as training does it
  add_product(runner, "forward", shape, forward_product(x, weight, y));
  add_product(runner, "input gradient", shape, input_gradient(y, weight, dx));
  add_product(runner, "weight gradient", shape, accumulated);
}

}  // namespace

Table measure_gemm(Engine& engine, const TableRequest& request, const JobControl& control) {
  CaseRunner runner(engine, request, control);
  for (const CaseShape& shape : runner.shapes(kGemmShapes)) add_layer(runner, shape);
  return runner.table("gemm",
                      "Shapes are M x N x K of y[M, N] = x[M, K] weight[N, K]'. The time includes rounding "
                      "and packing of operands.");
}

}  // namespace sluice::bench
