#include "sluice/optim/adamw.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/kernels/instruction_sets.h"
#include "tests/model/model_files.h"

namespace sluice::test {
namespace {

constexpr AdamWOptions kOptions{
    .beta1 = 0.8, .beta2 = 0.9, .eps = 1e-6, .weight_decay = 0.3, .max_norm = 0.5};

void set_gradients(Engine& engine, const Decoder& decoder, uint64_t stream) {
  for (size_t i = 0; i < decoder.parameters().size(); ++i) {
    const NamedParameter& named = decoder.parameters()[i];
    named.parameter->grad = Tensor::empty(engine.pool(), named.shape, DType::F32);
    Random(3, stream).child(i).fill_normal(named.parameter->grad.values<float>(), 0, 0.0F, 0.1F);
  }
}

// The rule as it stands in the paper, in f64.
struct Twin {
  double value, first = 0, second = 0;

  void step(double grad, double rate, double decay, int64_t count) {
    first = kOptions.beta1 * first + (1 - kOptions.beta1) * grad;
    second = kOptions.beta2 * second + (1 - kOptions.beta2) * grad * grad;
    const double m = first / (1 - std::pow(kOptions.beta1, static_cast<double>(count)));
    const double v = second / (1 - std::pow(kOptions.beta2, static_cast<double>(count)));
    value -= rate * (m / (std::sqrt(v) + kOptions.eps) + decay * value);
  }
};

TEST(AdamW, follows_its_rule_on_every_instruction_set) {
  for (const Isa isa : sets_of_this_machine()) {
    Engine engine({.isa = {.name = std::string(name_of(isa)), .source = "test"}});
    const Context context{engine};
    Decoder decoder(small_model());
    decoder.initialise(engine, Random(1));
    AdamW optimizer(context, decoder.parameters(), kOptions);
    std::vector<std::vector<Twin>> twins;
    for (const NamedParameter& named : decoder.parameters()) {
      twins.emplace_back();
      for (const float value : named.parameter->value.values<float>()) twins.back().push_back({value});
    }
    for (int64_t count = 1; count <= 3; ++count) {
      set_gradients(engine, decoder, static_cast<uint64_t>(count));
      double squares = 0;
      for (const NamedParameter& named : decoder.parameters()) {
        for (const float grad : named.parameter->grad.values<float>()) squares += double{grad} * grad;
      }
      const double norm = optimizer.gradient_norm(context);
      EXPECT_NEAR(norm, std::sqrt(squares), 1e-4 * norm);
      ASSERT_GT(norm, kOptions.max_norm) << "so it clips";
      for (size_t p = 0; p < twins.size(); ++p) {
        const NamedParameter& named = decoder.parameters()[p];
        const double decay = named.role == ParameterRole::Matrix ? kOptions.weight_decay : 0.0;
        for (size_t i = 0; i < twins[p].size(); ++i) {
          const double grad = named.parameter->grad.values<float>()[i] * kOptions.max_norm / norm;
          twins[p][i].step(grad, 0.01, decay, count);
        }
      }
      optimizer.step(context, 0.01, norm);
    }
    for (size_t p = 0; p < twins.size(); ++p) {
      const Parameter& parameter = *decoder.parameters()[p].parameter;
      EXPECT_FALSE(parameter.grad.defined()) << "gradients are cleared";
      for (size_t i = 0; i < twins[p].size(); ++i) {
        ASSERT_NEAR(parameter.value.values<float>()[i], twins[p][i].value, 2e-5)
            << name_of(isa) << ": " << parameter.name << ", element " << i;
      }
    }
  }
}

TEST(AdamW, updates_only_the_parameters_of_its_list) {
  Engine engine;
  const Context context{engine};
  Decoder decoder(small_model());
  decoder.initialise(engine, Random(1));
  set_gradients(engine, decoder, 1);
  AdamW optimizer(context, {decoder.parameters()[1]}, kOptions);
  ASSERT_EQ(optimizer.moments().size(), 1U);
  const Tensor outside = decoder.parameters()[0].parameter->value.copy(engine.pool());
  const Tensor inside = decoder.parameters()[1].parameter->value.copy(engine.pool());
  optimizer.step(context, 0.1, optimizer.gradient_norm(context));
  EXPECT_TRUE(
      std::ranges::equal(outside.values<float>(), decoder.parameters()[0].parameter->value.values<float>()));
  EXPECT_FALSE(
      std::ranges::equal(inside.values<float>(), decoder.parameters()[1].parameter->value.values<float>()));
  EXPECT_TRUE(decoder.parameters()[0].parameter->grad.defined()) << "a gradient that is not its own stays";
}

TEST(AdamW, leaves_a_parameter_without_a_gradient_alone) {
  Engine engine;
  const Context context{engine};
  Decoder decoder(small_model());
  decoder.initialise(engine, Random(1));
  AdamW optimizer(context, decoder.parameters(), kOptions);
  const Tensor before = decoder.parameters()[0].parameter->value.copy(engine.pool());
  optimizer.step(context, 0.1, 1.0);
  const auto after = decoder.parameters()[0].parameter->value.values<float>();
  EXPECT_TRUE(std::ranges::equal(before.values<float>(), after));
}

}  // namespace
}  // namespace sluice::test
