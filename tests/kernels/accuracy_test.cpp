// How far the activations and the exponential of the SIMD sets are from the truth, on single arguments.
// The functions are reached through kernels that hand them out unchanged.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/kernels/instruction_sets.h"

namespace sluice::test {
namespace {

using Floats = std::vector<float>;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

GateShape one_head(Activation activation, const Floats& x) {
  return {.heads = 1, .head_dim = static_cast<int64_t>(x.size()), .form = {.activation = activation}};
}

Floats values(const Kernels<float>& kernels, Activation activation, const Floats& x) {
  Floats y(x.size());
  kernels.gate_values({.shape = one_head(activation, x), .scores = x.data(), .values = y.data()}, {0, 1});
  return y;
}

// A gate that multiplies 1, with a gradient of 1 coming back: the gradient of the score is the slope.
Floats slopes(const Kernels<float>& kernels, Activation activation, const Floats& x) {
  const Floats ones(x.size(), 1.0F);
  Floats dx(x.size()), dscores(x.size());
  kernels.gate_backward({.shape = one_head(activation, x),
                         .x = ones.data(),
                         .scores = x.data(),
                         .dy = ones.data(),
                         .dx = dx.data(),
                         .dscores = dscores.data()},
                        {0, 1});
  return dscores;
}

// The gradient of cross-entropy, with a log of the sum that is 0; one more logit takes the target's -1.
Floats exponentials(const Kernels<float>& kernels, const Floats& x) {
  Floats logits = x;
  logits.push_back(0.0F);
  const auto target = static_cast<int32_t>(x.size());
  const float log_sum_exp = 0.0F;
  kernels.cross_entropy_backward({.logits = logits.data(),
                                  .targets = &target,
                                  .log_sum_exp = &log_sum_exp,
                                  .vocabulary = static_cast<int64_t>(logits.size()),
                                  .factor = 1.0F},
                                 {0, 1});
  logits.pop_back();
  return logits;
}

// Evenly over [-100, 100], and evenly over the bits of the floats there, where most are close to 0.
Floats dense_sweep() {
  Floats x;
  constexpr int kSteps = 400'000;
  for (int i = 0; i <= kSteps; ++i) x.push_back(-100.0F + 200.0F * static_cast<float>(i) / kSteps);
  const auto last = std::bit_cast<uint32_t>(100.0F);
  for (uint32_t bits = 0; bits <= last; bits += 4099) {
    x.push_back(std::bit_cast<float>(bits));
    x.push_back(-x.back());
  }
  return x;
}

// What may be lost where a result that is not a normal float becomes 0, and is then multiplied by |x| <= 100.
constexpr double kFlushed = 128.0 * std::numeric_limits<float>::min();

// An error is within the bound if it is within either.
struct Bound {
  double ulp;
  double absolute = kFlushed;
};

struct Function {
  std::string name;
  std::function<Floats(const Kernels<float>&, const Floats&)> run;
  std::function<double(double)> truth;
  double at_minus_infinity, at_infinity;
  Bound bound;
};

auto value_of(Activation activation) {
  return
      [activation](const Kernels<float>& kernels, const Floats& x) { return values(kernels, activation, x); };
}

auto slope_of(Activation activation) {
  return
      [activation](const Kernels<float>& kernels, const Floats& x) { return slopes(kernels, activation, x); };
}

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

double sigmoid_slope(double x) {
  return sigmoid(x) * sigmoid(-x);
}

// Limits and the bounds that kernels/simd/math.h states. It states none for ns_sigmoid and two_sigmoid, which
// scale a sigmoid.
std::vector<Function> value_functions() {
  using enum Activation;
  const auto silu = [](double x) { return x * sigmoid(x); };
  const auto ns_sigmoid = [](double x) { return 0.5 + 0.5 * sigmoid(x); };
  const auto two_sigmoid = [](double x) { return 2 * sigmoid(x); };
  const auto softplus = [](double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); };
  const auto tanh = [](double x) { return std::tanh(x); };
  return {{"exp", exponentials, [](double x) { return std::exp(x); }, 0, kInfinity, {.ulp = 1}},
          {"sigmoid", value_of(Sigmoid), sigmoid, 0, 1, {.ulp = 3}},
          {"silu", value_of(Silu), silu, 0, kInfinity, {.ulp = 4}},
          {"ns_sigmoid", value_of(NsSigmoid), ns_sigmoid, 0.5, 1, {.ulp = 3}},
          {"two_sigmoid", value_of(TwoSigmoid), two_sigmoid, 0, 2, {.ulp = 3}},
          {"softplus", value_of(Softplus), softplus, 0, kInfinity, {.ulp = 3}},
          {"tanh", value_of(Tanh), tanh, -1, 1, {.ulp = 2.5}}};
}

std::vector<Function> slope_functions() {
  using enum Activation;
  const auto silu = [](double x) { return sigmoid(x) * (1 + x * sigmoid(-x)); };
  const auto ns_sigmoid = [](double x) { return 0.5 * sigmoid_slope(x); };
  const auto two_sigmoid = [](double x) { return 2 * sigmoid_slope(x); };
  const auto tanh = [](double x) { return 1 / (std::cosh(x) * std::cosh(x)); };
  return {{"slope of sigmoid", slope_of(Sigmoid), sigmoid_slope, 0, 0, {.ulp = 5}},
          {"slope of silu", slope_of(Silu), silu, 0, 1, {.ulp = 0, .absolute = 3e-7}},
          {"slope of ns_sigmoid", slope_of(NsSigmoid), ns_sigmoid, 0, 0, {.ulp = 5}},
          {"slope of two_sigmoid", slope_of(TwoSigmoid), two_sigmoid, 0, 0, {.ulp = 5}},
          {"slope of softplus", slope_of(Softplus), sigmoid, 0, 1, {.ulp = 3}},
          {"slope of tanh", slope_of(Tanh), tanh, 0, 0, {.ulp = 5}}};
}

std::vector<Function> all_functions() {
  std::vector<Function> functions = value_functions();
  for (Function& function : slope_functions()) functions.push_back(std::move(function));
  return functions;
}

// The distance of neighbouring floats around a value.
double unit_in_the_last_place(double value) {
  const int exponent = std::max(std::ilogb(value), std::numeric_limits<float>::min_exponent - 1);
  return std::ldexp(1.0, exponent - (std::numeric_limits<float>::digits - 1));
}

std::string text_of(Isa isa, const Function& function, float x) {
  return fmt::format("{}: {}({})", name_of(isa), function.name, x);
}

void expect_within_bound(const Function& function, Isa isa, const Floats& x,
                         const std::vector<double>& truth) {
  const Floats got = function.run(f32_kernels(isa), x);
  double worst = 0;
  size_t at = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    if (truth[i] > std::numeric_limits<float>::max()) {
      ASSERT_EQ(got[i], kInfinity) << text_of(isa, function, x[i]);
      continue;
    }
    const double error = std::abs(double{got[i]} - truth[i]);
    ASSERT_FALSE(std::isnan(error)) << text_of(isa, function, x[i]);
    if (error <= function.bound.absolute) continue;
    const double ulp = error / unit_in_the_last_place(truth[i]);
    if (ulp > worst) {
      worst = ulp;
      at = i;
    }
  }
  EXPECT_LE(worst, function.bound.ulp)
      << text_of(isa, function, x[at]) << " is " << got[at] << ", not " << truth[at];
}

class SimdMath : public testing::Test {
 protected:
  void SetUp() override {
    if (simd_sets_of_this_machine().empty()) GTEST_SKIP() << "this machine has no SIMD set";
  }
};

TEST_F(SimdMath, keeps_to_its_error_bounds) {
  const Floats x = dense_sweep();
  for (const Function& function : all_functions()) {
    std::vector<double> truth;
    for (const float argument : x) truth.push_back(function.truth(argument));
    for (const Isa isa : simd_sets_of_this_machine()) expect_within_bound(function, isa, x, truth);
  }
}

TEST_F(SimdMath, has_no_denormal_results_but_of_arguments_close_to_0) {
  const Floats x = dense_sweep();
  for (const Function& function : value_functions()) {
    for (const Isa isa : simd_sets_of_this_machine()) {
      const Floats got = function.run(f32_kernels(isa), x);
      for (size_t i = 0; i < x.size(); ++i) {
        if (std::abs(x[i]) < 1.0F) continue;
        ASSERT_NE(std::fpclassify(got[i]), FP_SUBNORMAL) << text_of(isa, function, x[i]);
      }
    }
  }
}

TEST_F(SimdMath, infinities_give_the_limits_and_nan_stays) {
  // Ordinary numbers beside each: a vector must not be judged by its first lane.
  const Floats x = {1.0F, -kInfinity, 2.0F, kInfinity, 3.0F, kNan, -1.0F, -kNan, 0.0F};
  for (const Function& function : all_functions()) {
    for (const Isa isa : simd_sets_of_this_machine()) {
      const Floats got = function.run(f32_kernels(isa), x);
      EXPECT_EQ(got[1], function.at_minus_infinity) << text_of(isa, function, x[1]);
      EXPECT_EQ(got[3], function.at_infinity) << text_of(isa, function, x[3]);
      EXPECT_TRUE(std::isnan(got[5])) << text_of(isa, function, x[5]);
      EXPECT_TRUE(std::isnan(got[7])) << text_of(isa, function, x[7]);
      for (const size_t i : {0, 2, 4, 6, 8}) {
        EXPECT_NEAR(got[i], function.truth(x[i]), 1e-5) << text_of(isa, function, x[i]);
      }
    }
  }
}

}  // namespace
}  // namespace sluice::test
