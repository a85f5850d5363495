#include "tests/ops/evaluate.h"

#include <algorithm>

#include "sluice/base/random.h"

namespace sluice::test {
namespace {

Values normal_values(uint64_t stream, int64_t count) {
  std::vector<float> values(static_cast<size_t>(count));
  Random(7, stream).fill_normal(values, 0, 0.0F, 1.0F);
  return {values.begin(), values.end()};
}

// The direction in which results are differentiated.
Values weights_of(int64_t count) {
  return normal_values(1000, count);
}

Tensor tensor_of(const Context& context, const Shape& shape, DType dtype, const Values& values) {
  Tensor tensor = context.empty(shape, dtype);
  with_compute_type("test", dtype, [&](auto zero) {
    using T = decltype(zero);
    std::ranges::transform(values, tensor.values<T>().begin(), [](double v) { return static_cast<T>(v); });
  });
  return tensor;
}

Values values_of(const Tensor& tensor) {
  return with_compute_type("test", tensor.dtype(), [&](auto zero) {
    const auto values = tensor.values<decltype(zero)>();
    return Values(values.begin(), values.end());
  });
}

}  // namespace

std::vector<Values> operand_values(const OpCase& op_case) {
  std::vector<Values> operands;
  for (const Shape& shape : op_case.operands)
    operands.push_back(normal_values(operands.size(), shape.count()));
  return operands;
}

Evaluation evaluate(Engine& engine, const OpCase& op_case, DType dtype, const std::vector<Values>& operands) {
  Tape tape;
  const Context context{engine, &tape};
  std::vector<Var> leaves;
  for (size_t i = 0; i < operands.size(); ++i) {
    leaves.push_back(tape.leaf(tensor_of(context, op_case.operands[i], dtype, operands[i])));
  }
  const Var result = op_case.apply(context, leaves);
  Evaluation evaluation{.result = values_of(result.value()), .gradients = {}};
  tape.backward(context, result,
                tensor_of(context, result.shape(), dtype, weights_of(result.value().count())));
  for (const Var& leaf : leaves) evaluation.gradients.push_back(values_of(tape.gradient(leaf)));
  return evaluation;
}

double weighted_sum(Engine& engine, const OpCase& op_case, const std::vector<Values>& operands) {
  const Context context{engine};
  std::vector<Var> constants;
  for (size_t i = 0; i < operands.size(); ++i) {
    constants.emplace_back(tensor_of(context, op_case.operands[i], DType::F64, operands[i]));
  }
  const Values result = values_of(op_case.apply(context, constants).value());
  const Values weights = weights_of(static_cast<int64_t>(result.size()));
  double sum = 0;
  for (size_t i = 0; i < result.size(); ++i) sum += result[i] * weights[i];
  return sum;
}

}  // namespace sluice::test
