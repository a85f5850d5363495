// What holds for every op: values and gradients agree with the f64 twin on every instruction set, the twin's
// gradients agree with finite differences, and threads change nothing.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/ops/evaluate.h"

namespace sluice::test {
namespace {

// Worst-case rounding of a sum of `length` f32 products whose results are of size `scale`, with room for the
// few roundings around it and for vectorised exponentials of a few ULP.
double tolerance(int64_t length, double scale) {
  const auto roundings = 32.0 + 2.0 * static_cast<double>(length);
  return roundings * std::numeric_limits<float>::epsilon() * std::max(scale, 1.0);
}

void expect_near(const Values& got, const Values& expected, int64_t sum_length, const std::string& what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  double scale = 0;
  for (const double value : expected) scale = std::max(scale, std::abs(value));
  size_t worst = 0;
  double worst_error = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    const double error = std::abs(got[i] - expected[i]);
    if (error > worst_error || std::isnan(error)) {
      worst = i;
      worst_error = std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
    }
  }
  if (!got.empty()) {
    EXPECT_LE(worst_error, tolerance(sum_length, scale))
        << what << ": worst element " << worst << " is " << got[worst] << ", expected " << expected[worst];
  }
}

Engine& twin_engine() {
  static Engine engine({.threads = 1, .isa = {.name = "scalar", .source = "test"}});
  return engine;
}

std::vector<std::string> isas() {
  std::vector<std::string> names;
  for (const Isa isa : available_isas(detect_cpu())) names.emplace_back(name_of(isa));
  return names;
}

class OpTest : public testing::TestWithParam<OpCase> {};

TEST_P(OpTest, agrees_with_the_f64_twin_on_every_instruction_set) {
  const std::vector<Values> operands = operand_values(GetParam());
  const Evaluation expected = evaluate(twin_engine(), GetParam(), DType::F64, operands);
  for (const std::string& isa : isas()) {
    Engine engine({.threads = 2, .isa = {.name = isa, .source = "test"}});
    const Evaluation got = evaluate(engine, GetParam(), DType::F32, operands);
    expect_near(got.result, expected.result, GetParam().sum_length, isa + ": result");
    for (size_t i = 0; i < operands.size(); ++i) {
      expect_near(got.gradients[i], expected.gradients[i], GetParam().sum_length,
                  isa + ": gradient of operand " + std::to_string(i));
    }
  }
}

TEST_P(OpTest, gradient_agrees_with_finite_differences) {
  // Central differences in f64: the error is about step² from the slope and 1e-16 / step from rounding.
  constexpr double kStep = 1e-5;
  constexpr size_t kSamples = 24;  // elements per operand, evenly spread
  std::vector<Values> operands = operand_values(GetParam());
  const Evaluation twin = evaluate(twin_engine(), GetParam(), DType::F64, operands);
  for (size_t i = 0; i < operands.size(); ++i) {
    const size_t stride = std::max<size_t>(1, operands[i].size() / kSamples);
    for (size_t element = 0; element < operands[i].size(); element += stride) {
      const double at = operands[i][element];
      operands[i][element] = at + kStep;
      const double above = weighted_sum(twin_engine(), GetParam(), operands);
      operands[i][element] = at - kStep;
      const double below = weighted_sum(twin_engine(), GetParam(), operands);
      operands[i][element] = at;
      const double expected = (above - below) / (2 * kStep);
      EXPECT_NEAR(twin.gradients[i][element], expected, 1e-6 * std::max(1.0, std::abs(expected)))
          << "operand " << i << ", element " << element;
    }
  }
}

TEST_P(OpTest, gives_the_same_bits_for_any_number_of_threads) {
  const std::vector<Values> operands = operand_values(GetParam());
  for (const std::string& isa : isas()) {
    Engine one({.threads = 1, .isa = {.name = isa, .source = "test"}});
    const Evaluation expected = evaluate(one, GetParam(), DType::F32, operands);
    for (const int threads : {2, 3}) {
      Engine several({.threads = threads, .isa = {.name = isa, .source = "test"}});
      const Evaluation got = evaluate(several, GetParam(), DType::F32, operands);
      EXPECT_EQ(got.result, expected.result) << isa << ", " << threads << " threads";
      EXPECT_EQ(got.gradients, expected.gradients) << isa << ", " << threads << " threads";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, OpTest, testing::ValuesIn(op_cases()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace sluice::test
