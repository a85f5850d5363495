// Linear layers with int8 weights: against f64, for any number of rows and threads.
#include "sluice/ops/int8_matrix.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sluice/ops/convert.h"
#include "sluice/ops/linear.h"
#include "tests/ops/every_set.h"
#include "tests/ops/random_tensor.h"

namespace sluice::test {
namespace {

// A layer of these weights alone.
LinearWeights layer_of(const Int8Matrix& matrix, const Var& bias = {}) {
  return {.weight = matrix, .bias = bias};
}

Int8Matrix quantized(const Context& context, const Tensor& source) {
  const Int8Matrix matrix = empty_int8_matrix(context, source.rows(), source.cols());
  quantize_rows(context, source, {0, source.rows()}, matrix);
  return matrix;
}

std::vector<float> values(const Tensor& tensor) {
  const auto span = tensor.values<float>();
  return {span.begin(), span.end()};
}

TEST(Int8Linear, is_near_the_product_of_what_was_quantised) {
  with_every_set([](Engine& engine) {
    const Context context{engine};
    for (const int64_t rows : {0, 1, 3, 17}) {
      for (const int64_t outputs : {1, 16, 65}) {
        for (const int64_t k : {1, 31, 128, 257}) {
          const Tensor x = normal(context, {rows, k}, 1), weight = normal(context, {outputs, k}, 2);
          const Tensor bias = normal(context, {outputs}, 3);
          const Tensor y = linear(context, Var(x), layer_of(quantized(context, weight), Var(bias))).value();
          ASSERT_EQ(y.shape(), (Shape{rows, outputs}));
          // Steps of about 3/127 on both sides: errors of 0.007 a product, which add up like a random walk.
          const double tolerance = 0.05 * std::sqrt(static_cast<double>(k));
          for (int64_t i = 0; i < y.count(); ++i) {
            double expected = bias.data<float>()[i % outputs];
            for (int64_t j = 0; j < k; ++j)
              expected +=
                  double{x.data<float>()[i / outputs * k + j]} * weight.data<float>()[i % outputs * k + j];
            ASSERT_NEAR(y.data<float>()[i], expected, tolerance) << rows << " x " << outputs << " x " << k;
          }
        }
      }
    }
  });
}

TEST(Int8Linear, gives_a_row_the_same_bits_alone_and_among_others) {
  with_every_set([](Engine& engine) {
    const Context context{engine};
    const Tensor x = normal(context, {37, 200}, 1);
    const Int8Matrix weight = quantized(context, normal(context, {50, 200}, 2));
    const std::vector<float> together = values(linear(context, Var(x), layer_of(weight)).value());
    for (int64_t row = 0; row < x.rows(); ++row) {
      const Tensor one =
          Tensor::from<float>(engine.pool(), {1, 200}, x.values<float>().subspan(row * 200, 200));
      const std::vector<float> alone = values(linear(context, Var(one), layer_of(weight)).value());
      ASSERT_TRUE(std::equal(alone.begin(), alone.end(), together.begin() + row * 50)) << "row " << row;
    }
  });
}

TEST(Int8Linear, adds_a_residual_beside_or_without_a_bias) {
  Engine engine;
  const Context context{engine};
  const Var x(normal(context, {5, 40}, 1)), residual(normal(context, {5, 20}, 4));
  const Var bias(normal(context, {20}, 3)), none;
  const Int8Matrix weight = quantized(context, normal(context, {20, 40}, 2));
  for (const Var& each : {bias, none}) {
    const std::vector<float> plain = values(linear(context, x, layer_of(weight, each)).value());
    const std::vector<float> added = values(add_linear(context, residual, x, layer_of(weight, each)).value());
    for (size_t i = 0; i < plain.size(); ++i)
      EXPECT_NEAR(added[i], plain[i] + residual.value().data<float>()[i], 1e-5);
  }
}

TEST(Int8Linear, shares_an_input_with_layers_of_other_types) {
  Engine engine;
  const Context context{engine};
  const Var x(normal(context, {5, 40}, 1));
  const Tensor weight = normal(context, {20, 40}, 2);
  const LinearWeights narrow = layer_of(quantized(context, weight)), wide{.weight = Var(weight)};
  const std::vector<Var> both = linears(context, x, std::vector{narrow, wide});
  EXPECT_EQ(values(both[0].value()), values(linear(context, x, narrow).value()));
  EXPECT_EQ(values(both[1].value()), values(linear(context, x, wide).value()));
}

TEST(Int8Linear, gives_the_same_bits_for_any_number_of_threads) {
  const auto run = [](int threads) {
    Engine engine({.threads = threads});
    const Context context{engine};
    const Int8Matrix weight = quantized(context, normal(context, {530, 200}, 2));
    return values(linear(context, Var(normal(context, {3, 200}, 1)), layer_of(weight)).value());
  };
  EXPECT_EQ(run(2), run(1));
  EXPECT_EQ(run(3), run(1));
}

TEST(Int8Matrix, is_the_same_however_its_rows_are_handed_over) {
  Engine engine;
  const Context context{engine};
  const Tensor source = normal(context, {70, 75}, 1);
  const Int8Matrix whole = quantized(context, source);
  const Int8Matrix parts = empty_int8_matrix(context, 70, 75);
  for (const Range rows : {Range{48, 70}, Range{0, 16}, Range{16, 48}})
    quantize_rows(context, source, rows, parts);
  const auto same = [](const auto& a, const auto& b) { return std::equal(a.begin(), a.end(), b.begin()); };
  EXPECT_TRUE(same(parts.values.values<int8_t>(), whole.values.values<int8_t>()));
  EXPECT_TRUE(same(parts.scales.values<float>(), whole.scales.values<float>()));
}

TEST(Int8Matrix, of_bf16_is_that_of_its_values) {
  with_every_set([](Engine& engine) {
    const Context context{engine};
    const Tensor narrow = convert(context, normal(context, {19, 130}, 1), DType::BF16);
    const Int8Matrix a = quantized(context, narrow);
    const Int8Matrix b = quantized(context, convert(context, narrow, DType::F32));
    EXPECT_TRUE(std::ranges::equal(a.values.values<int8_t>(), b.values.values<int8_t>()));
    EXPECT_TRUE(std::ranges::equal(a.scales.values<float>(), b.scales.values<float>()));
  });
}

TEST(Int8Linear, has_no_gradient) {
  Engine engine;
  Tape tape;
  const Context context{engine, &tape};
  const Int8Matrix weight = quantized(context, normal(context, {3, 5}, 2));
  EXPECT_THROW(linear(context, Var(normal(context, {2, 5}, 1)), layer_of(weight)), AssertionError);
}

}  // namespace
}  // namespace sluice::test
