// How far the activations and the exponential of the SIMD sets are from the truth, on single arguments.
// The functions are reached through kernels that hand them out unchanged.
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

struct Function {
  std::string name;
  std::function<Floats(const Kernels<float>&, const Floats&)> run;
  std::function<double(double)> truth;
  double at_minus_infinity, at_infinity;
};

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

double softplus(double x) {
  return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
}

double sigmoid_slope(double x) {
  return sigmoid(x) * sigmoid(-x);
}

double tanh_slope(double x) {
  return 1 / (std::cosh(x) * std::cosh(x));
}

Function value_of(Activation activation, const std::string& name, std::function<double(double)> truth,
                  double low, double high) {
  const auto run = [activation](const Kernels<float>& kernels, const Floats& x) {
    return values(kernels, activation, x);
  };
  return {name, run, std::move(truth), low, high};
}

Function slope_of(Activation activation, const std::string& name, std::function<double(double)> truth,
                  double low, double high) {
  const auto run = [activation](const Kernels<float>& kernels, const Floats& x) {
    return slopes(kernels, activation, x);
  };
  return {"slope of " + name, run, std::move(truth), low, high};
}

std::vector<Function> value_functions() {
  const auto silu = [](double x) { return x * sigmoid(x); };
  return {{"exp", exponentials, [](double x) { return std::exp(x); }, 0, kInfinity},
          value_of(Activation::Sigmoid, "sigmoid", sigmoid, 0, 1),
          value_of(Activation::Silu, "silu", silu, 0, kInfinity),
          value_of(
              Activation::NsSigmoid, "ns_sigmoid", [](double x) { return 0.5 + 0.5 * sigmoid(x); }, 0.5, 1),
          value_of(
              Activation::TwoSigmoid, "two_sigmoid", [](double x) { return 2 * sigmoid(x); }, 0, 2),
          value_of(Activation::Softplus, "softplus", softplus, 0, kInfinity),
          value_of(
              Activation::Tanh, "tanh", [](double x) { return std::tanh(x); }, -1, 1)};
}

std::vector<Function> slope_functions() {
  const auto silu_slope = [](double x) { return sigmoid(x) * (1 + x * sigmoid(-x)); };
  return {slope_of(Activation::Sigmoid, "sigmoid", sigmoid_slope, 0, 0),
          slope_of(Activation::Silu, "silu", silu_slope, 0, 1),
          slope_of(
              Activation::NsSigmoid, "ns_sigmoid", [](double x) { return 0.5 * sigmoid_slope(x); }, 0, 0),
          slope_of(
              Activation::TwoSigmoid, "two_sigmoid", [](double x) { return 2 * sigmoid_slope(x); }, 0, 0),
          slope_of(Activation::Softplus, "softplus", sigmoid, 0, 1),
          slope_of(Activation::Tanh, "tanh", tanh_slope, 0, 0)};
}

// The distance of neighbouring floats around a value.
double unit_in_the_last_place(double value) {
  const int exponent = std::max(std::ilogb(value), std::numeric_limits<float>::min_exponent - 1);
  return std::ldexp(1.0, exponent - (std::numeric_limits<float>::digits - 1));
}

// What may be lost where a result that is not a normal float becomes 0, and is then multiplied by |x| <= 100.
constexpr double kFlushed = 128.0 * std::numeric_limits<float>::min();

struct Limit {
  double ulp;
  double absolute;
};

void expect_accurate(const std::vector<Function>& functions, const Limit& limit) {
  const Floats x = dense_sweep();
  for (const Function& function : functions) {
    std::vector<double> expected;
    for (const float argument : x) expected.push_back(function.truth(argument));
    for (const Isa isa : simd_sets_of_this_machine()) {
      const Floats got = function.run(f32_kernels(isa), x);
      double worst = 0;
      size_t at = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        if (std::abs(expected[i]) > std::numeric_limits<float>::max()) {
          ASSERT_EQ(double{got[i]}, std::copysign(kInfinity, expected[i]))
              << name_of(isa) << ": " << function.name;
          continue;
        }
        const double error = std::abs(double{got[i]} - expected[i]);
        ASSERT_FALSE(std::isnan(error)) << name_of(isa) << ": " << function.name << "(" << x[i] << ")";
        if (error <= limit.absolute) continue;
        const double ulp = error / unit_in_the_last_place(expected[i]);
        if (ulp > worst) {
          worst = ulp;
          at = i;
        }
      }
      EXPECT_LE(worst, limit.ulp) << name_of(isa) << ": " << function.name << "(" << x[at] << ") is "
                                  << got[at] << ", expected " << expected[at];
    }
  }
}

TEST(SimdMath, values_are_within_4_units_in_the_last_place) {
  expect_accurate(value_functions(), {.ulp = 4, .absolute = kFlushed});
}

TEST(SimdMath, slopes_are_within_4_units_in_the_last_place_or_1e_7) {
  // That of silu crosses 0, where no relative bound holds.
  expect_accurate(slope_functions(), {.ulp = 4, .absolute = 1e-7});
}

TEST(SimdMath, results_too_small_for_a_normal_float_are_zero) {
  const Floats x = dense_sweep();
  for (const Function& function : value_functions()) {
    for (const Isa isa : simd_sets_of_this_machine()) {
      const Floats got = function.run(f32_kernels(isa), x);
      for (size_t i = 0; i < x.size(); ++i) {
        // Functions that are small because their argument is are as small as it.
        if (std::fpclassify(x[i]) == FP_SUBNORMAL) continue;
        ASSERT_NE(std::fpclassify(got[i]), FP_SUBNORMAL)
            << name_of(isa) << ": " << function.name << "(" << x[i] << ")";
      }
    }
  }
}

TEST(SimdMath, infinities_give_the_limits_and_nan_stays) {
  // Some lanes of ordinary numbers beside each: a vector must not be judged by its first lane.
  const Floats x = {1.0F, -kInfinity, 2.0F, kInfinity, 3.0F, kNan, -1.0F, -kNan, 0.0F};
  std::vector<Function> functions = value_functions();
  for (Function& function : slope_functions()) functions.push_back(std::move(function));
  for (const Function& function : functions) {
    for (const Isa isa : simd_sets_of_this_machine()) {
      const Floats got = function.run(f32_kernels(isa), x);
      const std::string what = std::string(name_of(isa)) + ": " + function.name;
      EXPECT_EQ(got[1], function.at_minus_infinity) << what;
      EXPECT_EQ(got[3], function.at_infinity) << what;
      EXPECT_TRUE(std::isnan(got[5])) << what;
      EXPECT_TRUE(std::isnan(got[7])) << what;
      for (const size_t i : {0, 2, 4, 6, 8}) {
        EXPECT_NEAR(got[i], function.truth(x[i]), 1e-5) << what << "(" << x[i] << ")";
      }
    }
  }
}

}  // namespace
}  // namespace sluice::test
