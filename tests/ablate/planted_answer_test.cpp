// One head carries the answer: every way of looking for it must name that one.
#include <gtest/gtest.h>

#include <cmath>

#include "sluice/ablate/gate_estimates.h"
#include "sluice/eval/evaluate.h"
#include "sluice/probe/patch.h"
#include "tests/ablate/planted_answer.h"
#include "tests/base/temporary_directory.h"

namespace sluice {
namespace {

// By layer and head.
using HeadEffects = std::vector<std::vector<double>>;

class PlantedAnswerTest : public testing::Test {
 protected:
  PlantedAnswerTest() { write_planted_answer(directory_.path() / "planted", planted_); }

  LoadedModel model() { return LoadedModel(engine_, directory_.path() / "planted"); }

  // The planted head does at least ten times what any other does.
  void expect_named(const HeadEffects& effects) const {
    const auto at = [&](int64_t layer, int64_t head) {
      return std::abs(effects.at(static_cast<size_t>(layer)).at(static_cast<size_t>(head)));
    };
    const double planted = at(planted_.layer, planted_.head);
    EXPECT_GT(planted, 0.05);
    for (int64_t layer = 0; layer < planted_.layers; ++layer) {
      for (int64_t head = 0; head < planted_.heads; ++head) {
        if (layer == planted_.layer && head == planted_.head) continue;
        EXPECT_LT(at(layer, head), planted / 10) << "layer " << layer << ", head " << head;
      }
    }
  }

  // Of an intervention on one head after the other, which `spec` takes: "attn.gate set=0".
  HeadEffects exact_effects(const std::string& tap, const std::string& change) {
    const LoadedModel loaded = model();
    const double unbroken = evaluate(loaded, {.text = letter_text()}).perplexity.nll;
    HeadEffects effects;
    for (int64_t layer = 0; layer < planted_.layers; ++layer) {
      effects.emplace_back();
      for (int64_t head = 0; head < planted_.heads; ++head) {
        const std::string spec = fmt::format("layers.{}.{} {} heads={}", layer, tap, change, head);
        const EvaluationRequest request{.text = letter_text(),
                                        .interventions = {parse_intervention(spec, loaded.config())}};
        effects.back().push_back(evaluate(loaded, request).perplexity.nll - unbroken);
      }
    }
    return effects;
  }

  PatchResult patched(PatchDirection direction) {
    return patch_prompts(model(), {.clean = letter_prompt(2),
                                   .corrupted = letter_prompt(5),
                                   .answer = 2,
                                   .wrong = 5,
                                   .taps = {"attn.gated", "attn.mixed", "attn.v", "attn.gate", "resid"},
                                   .direction = direction});
  }

  PlantedAnswer planted_;
  Engine engine_;
  TemporaryDirectory directory_;
};

TEST_F(PlantedAnswerTest, is_given_by_the_model) {
  const LoadedModel loaded = model();
  EXPECT_LT(evaluate(loaded, {.text = letter_text()}).perplexity.nll, 0.6) << "of log 16";
}

TEST_F(PlantedAnswerTest, is_found_by_closing_gates) {
  const HeadEffects effects = exact_effects("attn.gate", "set=0");
  expect_named(effects);
  EXPECT_GT(effects[1][2], 1) << "nothing is left of the answer";
}

TEST_F(PlantedAnswerTest, is_found_by_zeroing_heads) {
  expect_named(exact_effects("attn.mixed", "set=0"));
}

TEST_F(PlantedAnswerTest, is_found_by_estimates_of_either_method_and_every_action) {
  const GateEstimates estimates = estimate_gates(model(), {.text = letter_text(), .steps = 4});
  ASSERT_EQ(estimates.estimates.size(), 4U);
  for (const ActionEstimates& each : estimates.estimates) {
    SCOPED_TRACE(fmt::format("{}, {}", name_of(each.action), name_of(each.method)));
    HeadEffects effects;
    for (const LayerEstimate& layer : each.layers) {
      effects.emplace_back();
      for (const EstimatedEffect& head : layer.heads) effects.back().push_back(head.nll);
    }
    expect_named(effects);
  }
}

TEST_F(PlantedAnswerTest, is_found_by_patching_heads_in_both_directions) {
  const PatchResult back = patched(PatchDirection::Denoise), away = patched(PatchDirection::Noise);
  for (const size_t map : {0U, 1U, 2U}) {
    SCOPED_TRACE(back.maps[map].tap);
    HeadEffects brought, taken;
    for (const PatchedLayer& layer : back.maps[map].layers) brought.push_back(layer.heads);
    for (const PatchedLayer& layer : away.maps[map].layers) {
      taken.emplace_back();
      for (const double left : layer.heads) taken.back().push_back(1 - left);
    }
    expect_named(brought);
    expect_named(taken);
    EXPECT_NEAR(brought[1][2], 1, 0.05);
    EXPECT_NEAR(taken[1][2], 1, 0.05);
  }
}

TEST_F(PlantedAnswerTest, is_found_by_patching_where_it_was_read_and_where_it_goes) {
  const PatchResult result = patched(PatchDirection::Denoise);
  const PatchMap& stream = result.maps[4];
  EXPECT_EQ(stream.tap, "resid");
  EXPECT_TRUE(stream.layers[0].heads.empty());
  const size_t last = letter_prompt(2).size() - 1;
  EXPECT_NEAR(stream.layers[0].positions[0], 1, 0.05) << "still at the letter";
  EXPECT_NEAR(stream.layers[0].positions[last], 0, 0.05);
  EXPECT_NEAR(stream.layers[1].positions[0], 0, 0.05) << "copied by now";
  EXPECT_NEAR(stream.layers[1].positions[last], 1, 0.05);
  EXPECT_NEAR(stream.layers[2].positions[last], 1, 1e-4) << "all that is left of the pass";
}

TEST_F(PlantedAnswerTest, is_not_in_the_gates_which_are_the_same_for_every_letter) {
  for (const PatchedLayer& layer : patched(PatchDirection::Denoise).maps[3].layers)
    for (const double share : layer.heads) EXPECT_NEAR(share, 0, 0.05);
}

}  // namespace
}  // namespace sluice
