// A sparse layer as others see it: taps, interventions, generation token by token, counts.
#include "sluice/nn/experts.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "sluice/infer/generator.h"
#include "sluice/model/count.h"
#include "sluice/model/decoder.h"
#include "sluice/nn/tap_points.h"
#include "sluice/ops/linear_cross_entropy.h"
#include "sluice/probe/intervention.h"
#include "sluice/probe/recorder.h"
#include "tests/base/expect_error.h"
#include "tests/model/small_model.h"

namespace sluice {
namespace {

ModelConfig sparse_model() {
  ModelConfig config = small_model(GateLayout::Separate, {{.init_std = 0.5}});
  config.tied = true;
  config.layers = 3;
  config.moe = {.experts = 5,
                .experts_per_token = 2,
                .expert_width = 12,
                .normalised = true,
                .shared_width = 8,
                .dense_layers = {1}};
  return config;
}

class SparseModel : public testing::Test {
 protected:
  SparseModel() { decoder_.initialise(engine_, Random(4), {.std = 0.3}); }

  Tensor run(Probe* probe = nullptr) { return decoder_.forward(context_.with_probe(probe), ids_).y.value(); }

  Tensor changed_by(const std::string& text) {
    Intervener intervener({parse_intervention(text, decoder_.config())});
    return run(&intervener);
  }

  static bool same(const Tensor& a, const Tensor& b) {
    return std::ranges::equal(a.values<float>(), b.values<float>());
  }

  Engine engine_;
  const Context context_{engine_};
  Decoder decoder_{sparse_model()};
  const std::vector<int32_t> ids_ = {1, 8, 15, 22, 29, 36, 43};
};

TEST_F(SparseModel, shows_probabilities_choices_and_outputs_of_experts) {
  Recorder seen({TapPattern("mlp.*")});
  const Tensor watched = run(&seen);
  EXPECT_TRUE(same(watched, run())) << "watching changes nothing";
  for (const int64_t layer : {0, 2}) {
    const auto at = [&](const TapPoint& point) { return seen.at({layer, point}).at(0); };
    const Tensor router = at(points::kRouter), experts = at(points::kExperts),
                 outputs = at(points::kExpertOut);
    EXPECT_EQ(router.shape(), Shape({7, 5}));
    EXPECT_EQ(outputs.shape(), Shape({7, 5, 32}));
    EXPECT_EQ(at(points::kSharedGate).shape(), Shape({7, 1}));
    for (int64_t t = 0; t < 7; ++t) {
      double probability = 0, weight = 0;
      int chosen = 0;
      for (int64_t e = 0; e < 5; ++e) {
        probability += router.data<float>()[t * 5 + e];
        weight += experts.data<float>()[t * 5 + e];
        const bool is_chosen = experts.data<float>()[t * 5 + e] != 0;
        chosen += is_chosen ? 1 : 0;
        EXPECT_EQ(outputs.data<float>()[(t * 5 + e) * 32] != 0, is_chosen);
      }
      EXPECT_NEAR(probability, 1, 1e-6);
      EXPECT_NEAR(weight, 1, 1e-6);
      EXPECT_EQ(chosen, 2);
    }
  }
  EXPECT_TRUE(seen.at({1, points::kRouter}).empty()) << "layer 1 is dense";
}

TEST_F(SparseModel, goes_where_an_intervention_sends_it) {
  Recorder seen({TapPattern("mlp.experts")});
  Intervener intervener({parse_intervention("layers.0.mlp.router set=2 experts=3", decoder_.config())});
  class Both : public Probe {
   public:
    Both(Probe& first, Probe& second) : first_(first), second_(second) {}
    void begin_pass(const PassTokens& tokens) override { first_.begin_pass(tokens); }
    bool wants(const TapName& name) const override { return first_.wants(name) || second_.wants(name); }
    Tensor visit(const Context& context, const TapName& name, const Tensor& value) override {
      const Tensor after = first_.wants(name) ? first_.visit(context, name, value) : value;
      return second_.wants(name) ? second_.visit(context, name, after) : after;
    }

   private:
    Probe &first_, &second_;
  } both(intervener, seen);
  EXPECT_FALSE(same(run(&both), run()));
  const Tensor experts = seen.at({0, points::kExperts}).at(0);
  for (int64_t t = 0; t < 7; ++t) EXPECT_GT(experts.data<float>()[t * 5 + 3], 0.6F) << "2 of at most 3";
}

TEST_F(SparseModel, has_outputs_of_experts_that_can_be_scaled) {
  EXPECT_FALSE(same(changed_by("layers.0.mlp.expert_out scale=0.5 experts=0-4"), run()));
  EXPECT_TRUE(same(changed_by("layers.0.mlp.expert_out scale=1"), run())) << "the same bits by another way";
  EXPECT_TRUE(
      same(changed_by("layers.0.mlp.expert_out set=0"), changed_by("layers.0.mlp.expert_out scale=0")));
}

// Puts a copy in the place of the outputs of experts, and lets their gradient go on.
class OutputCopier : public Probe {
 public:
  explicit OutputCopier(Engine& engine) : engine_(engine) {}

  bool wants(const TapName& name) const override { return name.point == points::kExpertOut; }
  bool wants_gradient(const TapName& name) const override { return wants(name); }
  Tensor visit(const Context& /*context*/, const TapName& /*name*/, const Tensor& value) override {
    return value.copy(engine_.pool());
  }
  Tensor receive(const Context& /*context*/, const TapName& /*name*/, const TapGradient& at) override {
    // Who was not chosen has no say.
    for (int64_t i = 0; i < at.value.count(); ++i) {
      if (at.value.data<float>()[i] == 0) {
        EXPECT_EQ(at.gradient.data<float>()[i], 0);
      }
    }
    ++received;
    return at.gradient;
  }

  int received = 0;

 private:
  Engine& engine_;
};

TEST_F(SparseModel, keeps_the_gradient_of_outputs_that_a_probe_changes_and_passes_on) {
  const auto gradients = [&](Probe* probe) {
    Tape tape;
    const Context context{.engine = engine_, .tape = &tape, .probe = probe};
    const Var hidden = decoder_.forward(context, ids_).y;
    tape.backward(context, linear_cross_entropy(context, hidden, weight_of(context, decoder_.output_weight()),
                                                Tensor::from<int32_t>(engine_.pool(), {7}, ids_)));
    std::map<std::string, std::vector<float>> all;
    for (const NamedParameter& named : decoder_.parameters()) {
      if (const Tensor grad = std::exchange(named.parameter->grad, {}); grad.defined())
        all[named.parameter->name].assign(grad.values<float>().begin(), grad.values<float>().end());
    }
    return all;
  };
  OutputCopier copier(engine_);
  const auto unwatched = gradients(nullptr);
  EXPECT_EQ(gradients(&copier), unwatched);
  EXPECT_EQ(copier.received, 2) << "layers with experts";
  Recorder watching({TapPattern("mlp.expert_out")});
  EXPECT_EQ(gradients(&watching), unwatched);
}

TEST_F(SparseModel, refuses_interventions_that_would_change_nothing) {
  const auto refused = [&](const std::string& text, const std::string& what) {
    try {
      parse_intervention(text, decoder_.config());
      ADD_FAILURE() << text << " is not refused";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
    }
  };
  refused("mlp.experts set=1", "can only be read");
  refused("layers.1.mlp.router set=1", "the model has no experts there");
  refused("mlp.router set=1 experts=5", "no such expert of mlp.router");
  refused("mlp.router set=1 heads=0", "has no heads");
  refused("mlp.router set=1 channels=0", "one value per expert");
  refused("mlp.out set=1 experts=0", "has no experts");
}

TEST_F(SparseModel, generates_the_same_tokens_one_by_one_as_in_one_pass) {
  const auto made = Generator(context_, decoder_).generate(ids_, {.max_tokens = 6});
  std::vector<int32_t> all = ids_;
  for (int i = 0; i < 6; ++i) {
    const Var logits = decoder_.logits(context_, decoder_.forward(context_, all).y);
    const auto last = logits.value().values<float>().last(50);
    all.push_back(static_cast<int32_t>(std::ranges::max_element(last) - last.begin()));
  }
  EXPECT_EQ(made.ids, std::vector<int32_t>(all.begin() + 7, all.end()));
}

TEST_F(SparseModel, counts_what_it_lists) {
  int64_t listed = 0;
  for (const NamedParameter& named : decoder_.parameters()) listed += named.shape.count();
  const ParameterCount count = count_parameters(decoder_.config());
  EXPECT_EQ(count.total(), listed);
  // Three of five experts are idle in two layers.
  EXPECT_EQ(count.idle, 2 * 3 * 3 * 32 * 12);
}

}  // namespace
}  // namespace sluice
