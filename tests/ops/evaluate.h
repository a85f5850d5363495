// Runs an op case: its result and the gradients of all operands, as doubles.
#pragma once

#include <vector>

#include "tests/ops/op_cases.h"

namespace sluice::test {

using Values = std::vector<double>;

// The same numbers for every dtype and engine: standard normal, rounded to f32.
std::vector<Values> operand_values(const OpCase& op_case);

struct Evaluation {
  Values result;
  std::vector<Values> gradients;  // of sum(result · weights), one per operand
};

Evaluation evaluate(Engine& engine, const OpCase& op_case, DType dtype, const std::vector<Values>& operands);

// sum(result · weights) in f64, without a tape.
double weighted_sum(Engine& engine, const OpCase& op_case, const std::vector<Values>& operands);

}  // namespace sluice::test
