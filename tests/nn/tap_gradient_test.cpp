// Probes that receive the gradient at a tap, and tapes that take parameters for constants.
#include <gtest/gtest.h>

#include <map>

#include "sluice/model/decoder.h"
#include "sluice/nn/tap_points.h"
#include "sluice/ops/linear_cross_entropy.h"
#include "sluice/ops/weight.h"
#include "tests/model/small_model.h"

namespace sluice {
namespace {

enum class Passing { On, Nothing };

// Keeps the gradients of all gates by the name of their tap.
class GateGradientKeeper : public Probe {
 public:
  explicit GateGradientKeeper(Passing passing = Passing::On) : passing_(passing) {}

  bool wants(const TapName& name) const override { return name.point == points::kGate; }
  bool wants_gradient(const TapName& name) const override { return wants(name); }

  Tensor visit(const Context& /*context*/, const TapName& name, const Tensor& value) override {
    ++visits_[name.text()];
    return value;
  }

  Tensor receive(const Context& /*context*/, const TapName& name, const TapGradient& at) override {
    EXPECT_EQ(at.gradient.shape(), at.value.shape());
    const auto values = at.gradient.values<float>();
    gradients_[name.text()].assign(values.begin(), values.end());
    return passing_ == Passing::On ? at.gradient : Tensor();
  }

  const std::map<std::string, std::vector<float>>& gradients() const { return gradients_; }
  const std::map<std::string, int>& visits() const { return visits_; }

 private:
  Passing passing_;
  std::map<std::string, std::vector<float>> gradients_;
  std::map<std::string, int> visits_;
};

struct TapGradientPass {
  Probe* probe = nullptr;
  ParameterGradients parameters = ParameterGradients::None;
  Activations activations = Activations::Keep;
};

class TapGradientTest : public testing::Test {
 protected:
  TapGradientTest() { decoder_.initialise(engine_, Random(3)); }

  void run(const TapGradientPass& pass) {
    Tape tape(pass.parameters);
    const Context context{
        .engine = engine_, .tape = &tape, .probe = pass.probe, .activations = pass.activations};
    const std::vector<int32_t> ids = {1, 8, 15, 22, 29}, targets = {8, 15, 22, 29, 36};
    const Var hidden = decoder_.forward(context, ids).y;
    tape.backward(context, linear_cross_entropy(context, hidden, weight_of(context, decoder_.output_weight()),
                                                Tensor::from<int32_t>(engine_.pool(), {5}, targets)));
  }

  // Of every parameter that has one.
  std::map<std::string, std::vector<float>> take_parameter_gradients() {
    std::map<std::string, std::vector<float>> all;
    for (const NamedParameter& named : decoder_.parameters()) {
      Tensor& grad = named.parameter->grad;
      if (!grad.defined()) continue;
      const auto values = grad.values<float>();
      all[named.parameter->name] = {values.begin(), values.end()};
      grad = {};
    }
    return all;
  }

  Engine engine_;
  Decoder decoder_{small_model(GateLayout::Separate, {{.init_std = 0.5}})};
};

TEST_F(TapGradientTest, arrives_once_at_every_tap_and_is_not_zero) {
  GateGradientKeeper keeper;
  run({.probe = &keeper});
  ASSERT_EQ(keeper.gradients().size(), 2U);
  for (const auto& [name, gradient] : keeper.gradients()) {
    EXPECT_EQ(gradient.size(), 5U * 4 * 8) << name;
    EXPECT_NE(gradient, std::vector<float>(gradient.size(), 0.0F)) << name;
  }
}

TEST_F(TapGradientTest, is_bitwise_the_same_with_recomputation_which_shows_values_once) {
  GateGradientKeeper kept, recomputed;
  run({.probe = &kept});
  run({.probe = &recomputed, .activations = Activations::Recompute});
  EXPECT_EQ(recomputed.gradients(), kept.gradients());
  EXPECT_EQ(recomputed.visits(), kept.visits());
}

TEST_F(TapGradientTest, leaves_parameters_without_a_gradient_if_the_tape_wants_none) {
  for (const Activations activations : {Activations::Keep, Activations::Recompute}) {
    GateGradientKeeper keeper;
    run({.probe = &keeper, .activations = activations});
    EXPECT_TRUE(take_parameter_gradients().empty());
  }
}

TEST_F(TapGradientTest, is_the_same_whether_parameters_have_one_or_not) {
  GateGradientKeeper with, without;
  run({.probe = &with, .parameters = ParameterGradients::Wanted});
  EXPECT_FALSE(take_parameter_gradients().empty());
  run({.probe = &without});
  EXPECT_EQ(without.gradients(), with.gradients());
}

TEST_F(TapGradientTest, that_is_passed_on_leaves_those_of_parameters_as_they_are) {
  run({.parameters = ParameterGradients::Wanted});
  const auto expected = take_parameter_gradients();
  GateGradientKeeper keeper;
  run({.probe = &keeper, .parameters = ParameterGradients::Wanted});
  EXPECT_EQ(take_parameter_gradients(), expected);
}

TEST_F(TapGradientTest, that_is_not_passed_on_makes_the_value_a_constant) {
  GateGradientKeeper keeper(Passing::Nothing);
  run({.probe = &keeper, .parameters = ParameterGradients::Wanted});
  const auto gradients = take_parameter_gradients();
  EXPECT_TRUE(gradients.contains("model.layers.1.self_attn.q_proj.weight"));
  EXPECT_FALSE(gradients.contains("model.layers.1.self_attn.gate_proj.weight"));
}

TEST_F(TapGradientTest, does_not_reach_probes_that_do_not_want_it) {
  class Watcher : public GateGradientKeeper {
    bool wants_gradient(const TapName& /*name*/) const override { return false; }
  };
  Watcher watcher;
  run({.probe = &watcher, .activations = Activations::Recompute});
  EXPECT_TRUE(watcher.gradients().empty());
  EXPECT_EQ(watcher.visits().size(), 2U);
}

}  // namespace
}  // namespace sluice
