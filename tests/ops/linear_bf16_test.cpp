// Products with weights in bf16, few rows and many, against plain loops in f64.
#include <gtest/gtest.h>

#include <cmath>

#include "sluice/ops/convert.h"
#include "sluice/ops/linear.h"
#include "tests/kernels/instruction_sets.h"
#include "tests/ops/random_tensor.h"

namespace sluice::test {
namespace {

struct Sizes {
  int64_t rows, outputs, width;
};

double exact(const Tensor& x, const Tensor& weight, int64_t row, int64_t output) {
  double sum = 0;
  for (int64_t i = 0; i < x.cols(); ++i) {
    // The product sees the input in bf16, too.
    const double rounded = to_float(to_bf16(x.data<float>()[row * x.cols() + i]));
    sum += rounded * to_float(weight.data<Bf16>()[output * x.cols() + i]);
  }
  return sum;
}

void expect_products(const Context& context, const Sizes& sizes, const std::string& set) {
  const Tensor x = normal(context, {sizes.rows, sizes.width}, 1);
  const Tensor weight = convert(context, normal(context, {sizes.outputs, sizes.width}, 2), DType::BF16);
  const Tensor bias = normal(context, {sizes.outputs}, 3);
  const Tensor y = linear(context, Var(x), {Var(weight), Var(bias)}).value();
  // Sums of `width` products of order one, added up in f32.
  const double tolerance = 1e-6 * std::sqrt(static_cast<double>(sizes.width)) * 8;
  for (int64_t row = 0; row < sizes.rows; ++row) {
    for (int64_t output = 0; output < sizes.outputs; ++output) {
      const double expected = exact(x, weight, row, output) + bias.data<float>()[output];
      ASSERT_NEAR(y.data<float>()[row * sizes.outputs + output], expected, tolerance)
          << set << ": " << sizes.rows << "x" << sizes.outputs << "x" << sizes.width << ", row " << row
          << ", output " << output;
    }
  }
}

TEST(LinearBf16, agrees_with_f64_for_odd_sizes_on_every_instruction_set) {
  for (const Isa isa : sets_of_this_machine()) {
    Engine engine({.isa = {.name = std::string(name_of(isa)), .source = "test"}});
    for (const int64_t rows : {0, 1, 2, 3, 4, 17}) {
      for (const int64_t outputs : {1, 15, 63, 65, 130}) {
        for (const int64_t width : {1, 15, 16, 17, 31, 33, 63, 255, 256}) {
          expect_products({engine}, {rows, outputs, width}, std::string(name_of(isa)));
        }
      }
    }
  }
}

TEST(LinearBf16, gives_the_same_bits_for_any_number_of_threads) {
  const auto product = [](int threads, int64_t rows) {
    Engine engine({.threads = threads});
    const Context context{engine};
    const Tensor weight = convert(context, normal(context, {300, 257}, 2), DType::BF16);
    const auto y = linear(context, Var(normal(context, {rows, 257}, 1)), {Var(weight)}).value();
    const auto values = y.values<float>();
    return std::vector<float>(values.begin(), values.end());
  };
  for (const int64_t rows : {1, 9}) {
    EXPECT_EQ(product(2, rows), product(1, rows)) << rows << " rows";
    EXPECT_EQ(product(3, rows), product(1, rows)) << rows << " rows";
  }
}

// dy · weight, with dy rounded as the product sees it.
double exact_gradient(const Tensor& dy, const Tensor& weight, int64_t row, int64_t column) {
  double sum = 0;
  for (int64_t i = 0; i < dy.cols(); ++i) {
    const double rounded = to_float(to_bf16(dy.data<float>()[row * dy.cols() + i]));
    sum += rounded * to_float(weight.data<Bf16>()[i * weight.cols() + column]);
  }
  return sum;
}

void expect_input_gradient(Engine& engine, const Sizes& sizes, const std::string& set) {
  Tape tape(ParameterGradients::None);
  const Context context{.engine = engine, .tape = &tape};
  const Parameter weight{
      .name = "w", .value = convert(context, normal(context, {sizes.outputs, sizes.width}, 2), DType::BF16)};
  const Tensor dy = normal(context, {sizes.rows, sizes.outputs}, 4);
  const Var x = tape.leaf(normal(context, {sizes.rows, sizes.width}, 1));
  tape.backward(context, linear(context, x, {weight_of(context, weight)}), dy);
  EXPECT_FALSE(weight.grad.defined());
  const double tolerance = 1e-6 * std::sqrt(static_cast<double>(sizes.outputs)) * 8;
  for (int64_t row = 0; row < sizes.rows; ++row) {
    for (int64_t column = 0; column < sizes.width; ++column) {
      ASSERT_NEAR(tape.gradient(x).data<float>()[row * sizes.width + column],
                  exact_gradient(dy, weight.value, row, column), tolerance)
          << set << ": " << sizes.rows << "x" << sizes.outputs << "x" << sizes.width;
    }
  }
}

TEST(LinearBf16, passes_the_gradient_of_its_input_on_every_instruction_set) {
  for (const Isa isa : sets_of_this_machine()) {
    Engine engine({.isa = {.name = std::string(name_of(isa)), .source = "test"}});
    for (const int64_t rows : {1, 3, 17})
      for (const int64_t outputs : {1, 33, 130})
        for (const int64_t width : {1, 17, 65})
          expect_input_gradient(engine, {rows, outputs, width}, std::string(name_of(isa)));
  }
}

}  // namespace
}  // namespace sluice::test
