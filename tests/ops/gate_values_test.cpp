#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sluice/base/random.h"
#include "sluice/ops/gate.h"

namespace sluice {
namespace {

// Shapes: 5 tokens, 3 heads of 9 channels.
constexpr int64_t kTokens = 5, kHeads = 3, kHeadDim = 9;

Tensor normal(Engine& engine, const Shape& shape, uint64_t stream) {
  Tensor tensor = Tensor::empty(engine.pool(), shape, DType::F32);
  Random(11, stream).fill_normal(tensor.values<float>(), 0, 0.0F, 1.0F);
  return tensor;
}

class GateValues : public testing::TestWithParam<std::tuple<Granularity, Sharing>> {};

TEST_P(GateValues, applied_by_hand_give_what_the_gate_gives) {
  const auto [granularity, sharing] = GetParam();
  for (const Isa isa : available_isas(detect_cpu())) {
    Engine engine({.isa = {.name = std::string(name_of(isa)), .source = "test"}});
    const Context context{engine};
    const GateForm form{.activation = Activation::Silu, .granularity = granularity, .sharing = sharing};
    const int64_t width = granularity == Granularity::Headwise ? 1 : kHeadDim;
    const Var x(normal(engine, {kTokens, kHeads * kHeadDim}, 0));
    const Tensor scores = normal(engine, {kTokens, kHeads * width}, 1);

    const Var values = gate_values(context, Var(scores), kHeads, form);
    EXPECT_EQ(values.shape(), scores.shape());
    const GateForm by_hand{.activation = Activation::Identity, .granularity = granularity};
    const Var replayed = gate(context, x, values, kHeads, by_hand);
    const Var direct = gate(context, x, Var(scores), kHeads, form);
    for (int64_t i = 0; i < direct.value().count(); ++i) {
      ASSERT_EQ(replayed.value().data<float>()[i], direct.value().data<float>()[i]) << name_of(isa);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, GateValues,
                         testing::Combine(testing::Values(Granularity::Elementwise, Granularity::Headwise),
                                          testing::Values(Sharing::Specific, Sharing::Shared)));

TEST(GateValues, reach_their_limits_and_keep_nan_on_every_instruction_set) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  struct Limit {
    Activation activation;
    float at_minus_infinity, at_infinity;
  };
  const std::vector<Limit> limits = {{Activation::Sigmoid, 0, 1},
                                     {Activation::NsSigmoid, 0.5, 1},
                                     {Activation::TwoSigmoid, 0, 2},
                                     {Activation::Tanh, -1, 1},
                                     {Activation::Softplus, 0, kInfinity}};
  const std::vector<float> scores = {-kInfinity, -1e4F, 1e4F, kInfinity,
                                     std::numeric_limits<float>::quiet_NaN()};
  for (const Isa isa : available_isas(detect_cpu())) {
    Engine engine({.isa = {.name = std::string(name_of(isa)), .source = "test"}});
    const Context context{engine};
    const Tensor input = Tensor::from<float>(engine.pool(), {1, 5}, scores);
    for (const auto& [activation, low, high] : limits) {
      const Tensor values = gate_values(context, Var(input), 5, {.activation = activation}).value();
      const float* v = values.data<float>();
      EXPECT_NEAR(v[0], low, 1e-6) << name_of(isa);
      EXPECT_NEAR(v[1], low, 1e-6) << name_of(isa);
      if (high < kInfinity) {
        EXPECT_NEAR(v[2], high, 1e-6) << name_of(isa);
      }
      EXPECT_FLOAT_EQ(v[3], high) << name_of(isa);
      EXPECT_TRUE(std::isnan(v[4])) << name_of(isa) << ": a NaN must not be swallowed";
    }
  }
}

}  // namespace
}  // namespace sluice
