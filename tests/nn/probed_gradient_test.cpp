// Looking at values under a tape: gradients stay what they are, and every value is seen once.
#include <gtest/gtest.h>

#include <map>

#include "sluice/model/decoder.h"
#include "sluice/ops/linear_cross_entropy.h"
#include "sluice/probe/intervention.h"
#include "sluice/probe/recorder.h"
#include "tests/model/small_model.h"

namespace sluice {
namespace {

constexpr int64_t kTokens = 9;

// Of every parameter, by name.
using NamedGradients = std::map<std::string, std::vector<float>>;

NamedGradients gradients(Engine& engine, const Decoder& decoder, Probe* probe,
                         Activations activations = Activations::Keep) {
  Tape tape;
  const Context context{.engine = engine, .tape = &tape, .probe = probe, .activations = activations};
  std::vector<int32_t> ids, targets;
  for (int32_t i = 0; i < kTokens; ++i) {
    ids.push_back(i * 7 % 50);
    targets.push_back((i + 1) * 7 % 50);
  }
  const Var hidden = decoder.forward(context, ids, Sequences::of_lengths({4, 5})).y;
  tape.backward(context, linear_cross_entropy(context, hidden, weight_of(context, decoder.output_weight()),
                                              Tensor::from<int32_t>(engine.pool(), {kTokens}, targets)));
  NamedGradients all;
  for (const NamedParameter& named : decoder.parameters()) {
    const Parameter& parameter = *named.parameter;
    if (parameter.grad.defined()) {
      const auto values = parameter.grad.values<float>();
      all[parameter.name] = {values.begin(), values.end()};
    }
    parameter.grad = {};
  }
  return all;
}

class ProbedGradient : public testing::TestWithParam<std::tuple<std::string_view, Sharing>> {
 protected:
  ProbedGradient() {
    const auto& [name, sharing] = GetParam();
    for (const GatePositionRow& row : kGatePositionRows) {
      if (row.name != name) continue;
      const bool on_heads = row.tensor != GatedTensor::Hidden;
      decoder_ = std::make_unique<Decoder>(small_model(
          GateLayout::Separate,
          {{.position = row, .form = {.sharing = on_heads ? sharing : Sharing::Specific}, .init_std = 0.5}}));
    }
    decoder_->initialise(engine_, Random(3));
  }

  Engine engine_;
  std::unique_ptr<Decoder> decoder_;
};

TEST_P(ProbedGradient, is_bitwise_that_of_a_pass_nobody_looks_at) {
  const NamedGradients expected = gradients(engine_, *decoder_, nullptr);
  Recorder recorder({TapPattern("*")});
  EXPECT_EQ(gradients(engine_, *decoder_, &recorder), expected);
  const bool gated = std::ranges::any_of(expected, [](const auto& each) {
    return each.first.find("gate_") != std::string::npos &&
           each.second != std::vector<float>(each.second.size(), 0.0F);
  });
  EXPECT_TRUE(gated) << "the gate has a gradient at all";
}

std::string name_of_case(const testing::TestParamInfo<ProbedGradient::ParamType>& info) {
  const auto& [position, sharing] = info.param;
  return std::string(position) + (sharing == Sharing::Shared ? "_shared" : "_specific");
}

INSTANTIATE_TEST_SUITE_P(Gates, ProbedGradient,
                         testing::Combine(testing::Values("g1", "g2", "g3", "g4", "g5"),
                                          testing::Values(Sharing::Specific, Sharing::Shared)),
                         name_of_case);

class ProbedRecomputation : public testing::Test {
 protected:
  ProbedRecomputation() { decoder_.initialise(engine_, Random(3)); }

  Engine engine_;
  Decoder decoder_{small_model(GateLayout::Separate, {{.init_std = 0.5}})};
};

TEST_F(ProbedRecomputation, shows_every_tap_once) {
  Recorder kept({TapPattern("*")}), recomputed({TapPattern("*")});
  const NamedGradients expected = gradients(engine_, decoder_, &kept);
  EXPECT_EQ(gradients(engine_, decoder_, &recomputed, Activations::Recompute), expected);
  ASSERT_EQ(recomputed.values().size(), kept.values().size());
  for (const auto& [place, values] : kept.values()) {
    EXPECT_EQ(recomputed.values().at(place).size(), values.size()) << place.first << " " << place.second;
  }
}

TEST_F(ProbedRecomputation, does_not_show_a_probe_that_comes_with_the_gradient) {
  Recorder recorder({TapPattern("*")});
  Tape tape;
  const Context context{.engine = engine_, .tape = &tape, .activations = Activations::Recompute};
  const std::vector<int32_t> ids = {1, 2, 3};
  const Var hidden = decoder_.forward(context, ids).y;
  tape.backward(context.with_probe(&recorder), hidden, hidden.value());
  EXPECT_TRUE(recorder.values().empty());
  for (const NamedParameter& named : decoder_.parameters()) named.parameter->grad = {};
}

TEST_F(ProbedRecomputation, repeats_what_an_intervention_changed) {
  for (const char* text :
       {"layers.0.attn.gate set=0.3", "layers.1.attn.mixed scale=0.5", "resid_mid shift=0.1"}) {
    const auto changed = [&](Activations activations) {
      Intervener intervener({parse_intervention(text, decoder_.config())});
      return gradients(engine_, decoder_, &intervener, activations);
    };
    const NamedGradients expected = changed(Activations::Keep);
    EXPECT_EQ(changed(Activations::Recompute), expected) << text;
    EXPECT_NE(expected, gradients(engine_, decoder_, nullptr)) << text << " changes something";
  }
}

}  // namespace
}  // namespace sluice
