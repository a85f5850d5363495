// bench gemm: the products of a linear layer, forward and both gradients.
// Shapes: x [M, K], weight [N, K], y and dy [M, N].
#include "sluice/cli/bench/table.h"
#include "sluice/ops/matmul.h"

namespace sluice::cli {
namespace {

// Projections and feed-forward part of the 51M model, a feed-forward part of the 1.7B one, an output layer.
const std::vector<BenchShape> kShapes = {
    {4096, 512, 512}, {4096, 1376, 512}, {512, 6144, 2048}, {4096, 32000, 512}};

Gemm<float> forward_product(const BenchShape& shape, const Tensor& x, const Tensor& weight, const Tensor& y) {
  const auto [m, n, k] = shape;
  return {.m = m,
          .n = n,
          .k = k,
          .a = x.data<float>(),
          .a_stride = k,
          .b = weight.data<float>(),
          .b_stride = k,
          .b_transpose = Transpose::Yes,
          .c = y.data<float>(),
          .c_stride = n};
}

Gemm<float> input_gradient(const BenchShape& shape, const Tensor& dy, const Tensor& weight,
                           const Tensor& dx) {
  const auto [m, n, k] = shape;
  return {.m = m,
          .n = k,
          .k = n,
          .a = dy.data<float>(),
          .a_stride = n,
          .b = weight.data<float>(),
          .b_stride = k,
          .c = dx.data<float>(),
          .c_stride = k};
}

Gemm<float> weight_gradient(const BenchShape& shape, const Tensor& dy, const Tensor& x,
                            const Tensor& dweight) {
  const auto [m, n, k] = shape;
  return {.m = n,
          .n = k,
          .k = m,
          .a = dy.data<float>(),
          .a_stride = n,
          .a_transpose = Transpose::Yes,
          .b = x.data<float>(),
          .b_stride = k,
          .c = dweight.data<float>(),
          .c_stride = k,
          .output = Output::Accumulate};
}

void add_product(BenchTable& table, const char* name, const BenchShape& shape, const Gemm<float>& product) {
  const double operations =
      2.0 * static_cast<double>(shape.a) * static_cast<double>(shape.b) * static_cast<double>(shape.c);
  table.add(
      {.name = name,
       .shape = shape.text(),
       .work = {.amount = operations,
                .bound = table.arithmetic(),
                .seconds = [&] { return seconds_of([&] { matmul<float>(table.context(), product); }); }},
       .openblas = {product}});
}

void add_layer(BenchTable& table, const BenchShape& shape) {
  const Context context = table.context();
  const Tensor x = random_matrix(context, shape.a, shape.c);
  const Tensor weight = random_matrix(context, shape.b, shape.c);
  const Tensor y = random_matrix(context, shape.a, shape.b);  // later its own gradient
  const Tensor dx = context.empty_like(x);
  const Tensor dweight = context.zeros(weight.shape(), DType::F32);
  add_product(table, "forward", shape, forward_product(shape, x, weight, y));
  add_product(table, "input gradient", shape, input_gradient(shape, y, weight, dx));
  add_product(table, "weight gradient", shape, weight_gradient(shape, y, x, dweight));
}

}  // namespace

void bench_gemm(const BenchRequest& request, const Session& session) {
  const std::vector<BenchShape> shapes = shapes_of(request, "MxNxK", kShapes);
  BenchTable table(request, session);
  for (const BenchShape& shape : shapes) add_layer(table, shape);
  table.print(
      "Shapes are M x N x K of y[M, N] = x[M, K] weight[N, K]'. Rounding and packing of operands is part of "
      "the "
      "time.");
}

}  // namespace sluice::cli
