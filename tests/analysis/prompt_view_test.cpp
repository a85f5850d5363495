#include "sluice/analysis/prompt_view.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "sluice/analysis/head_rank.h"
#include "sluice/analysis/prompt_map.h"
#include "sluice/analysis/view_difference.h"
#include "sluice/analysis/view_predictions.h"
#include "tests/probe/golden.h"

namespace sluice {
namespace {

class PromptViews : public testing::Test {
 protected:
  PromptView view(const std::vector<std::string>& changes = {},
                  const std::function<void(LayerDetail)>& seen = {}) const {
    return view_prompt(
        model_, {.ids = ids_, .interventions = parse_interventions(changes, model_.config()), .seen = seen});
  }

  Engine engine_;
  LoadedModel model_{engine_, golden("tiny_gate_elementwise"), {.tokenizer = "bytes"}};
  std::vector<TokenId> ids_ = {1, 5, 9, 3, 7, 2, 8, 100, 64, 11};
};

TEST_F(PromptViews, give_back_the_values_of_a_layer_bit_by_bit) {
  for (const std::vector<std::string>& changes :
       {std::vector<std::string>{}, {"layers.0.attn.gate set=0.5 positions=2-4", "layers.1.resid scale=2"}}) {
    std::vector<LayerDetail> seen;
    const PromptView made = view(changes, [&](LayerDetail detail) { seen.push_back(std::move(detail)); });
    ASSERT_EQ(std::ssize(seen), model_.config().layers);
    for (const LayerDetail& before : seen) {
      const LayerDetail again = layer_detail(model_, made, before.layer);
      EXPECT_TRUE(
          std::ranges::equal(again.probabilities.values<float>(), before.probabilities.values<float>()));
      ASSERT_EQ(again.gates.size(), 1U);
      EXPECT_TRUE(
          std::ranges::equal(again.gates[0].values.values<float>(), before.gates[0].values.values<float>()));
    }
  }
}

TEST_F(PromptViews, say_what_a_map_of_the_prompt_says) {
  const PromptMap map = map_prompt(model_, {.ids = ids_});
  const PromptView made = view();
  EXPECT_EQ(made.tokens, map.tokens);
  for (size_t i = 1; i < ids_.size(); ++i) EXPECT_FLOAT_EQ(made.surprise[i], map.surprise[i]);
  for (size_t l = 0; l < map.layers.size(); ++l) {
    const std::vector<float>& gates = made.layers[l].gates[0].by_token;
    for (size_t i = 0; i < gates.size(); ++i) EXPECT_FLOAT_EQ(gates[i], map.layers[l].gates[i]);
    const auto heads = made.layers[l].received.size() / ids_.size();
    for (size_t i = 0; i < ids_.size(); ++i) {
      float mean = 0;
      for (size_t h = 0; h < heads; ++h) mean += made.layers[l].received[h * ids_.size() + i];
      EXPECT_NEAR(mean / static_cast<float>(heads), map.layers[l].received[i], 1e-6);
    }
  }
}

TEST_F(PromptViews, see_logits_that_an_intervention_changes) {
  const PromptView made = view({"logits set=0"});
  for (size_t i = 1; i < ids_.size(); ++i)
    EXPECT_NEAR(made.surprise[i], std::log(static_cast<double>(model_.config().vocabulary)), 1e-5);
}

TEST_F(PromptViews, refuse_prompts_that_are_too_long_and_changes_without_effect) {
  EXPECT_THROW(view_prompt(model_, {.ids = {}}), Error);
  EXPECT_THROW(view_prompt(model_, {.ids = std::vector<TokenId>(kMaxPromptTokens + 1, 1)}), Error);
  EXPECT_THROW(view({"attn.gate set=0 positions=90"}), Error);
}

TEST_F(PromptViews, stop_when_they_are_cancelled) {
  EXPECT_THROW(view_prompt(model_, {.ids = ids_}, {.cancelled = [] { return true; }}), Error);
}

TEST_F(PromptViews, differ_by_what_was_changed) {
  const PromptView sound = view(), broken = view({"attn.gate set=0"});
  const ViewDifference same = compare_views({model_, sound}, {model_, sound}, 5);
  EXPECT_EQ(same.mean_kl(), 0.0);
  EXPECT_EQ(same.agreement, 1.0);
  const ViewDifference changed = compare_views({model_, sound}, {model_, broken}, 5);
  EXPECT_GT(changed.mean_kl(), 0.0);
  EXPECT_EQ(changed.kl.size(), ids_.size());
  for (size_t i = 1; i < changed.next.size(); ++i)
    EXPECT_GE(std::abs(changed.next[i - 1].b - changed.next[i - 1].a),
              std::abs(changed.next[i].b - changed.next[i].a));
}

TEST_F(PromptViews, take_over_what_comes_before_the_first_change) {
  const PromptView sound = view();
  const int64_t layers = model_.config().layers;
  struct Case {
    const char* change;
    int64_t taken_over;
  };
  for (const Case& each : {Case{"layers.1.attn.gate set=0.2", 1}, Case{"layers.0.mlp.out scale=2", 0},
                           Case{"attn.gate scale=0.5 positions=3", 0}, Case{"embedding scale=2", 0},
                           Case{"logits scale=2", layers}}) {
    const PromptView expected = view({each.change});
    int64_t computed = 0;
    const PromptView made = view_prompt(
        model_, {.ids = ids_,
                 .interventions = parse_interventions(std::vector<std::string>{each.change}, model_.config()),
                 .unchanged = &sound,
                 .seen = [&](const LayerDetail&) { ++computed; }});
    EXPECT_EQ(computed, layers - each.taken_over) << each.change;
    EXPECT_EQ(to_json(made).dump(), to_json(expected).dump()) << each.change;
    for (size_t l = 0; l < expected.streams.size(); ++l)
      EXPECT_TRUE(std::ranges::equal(made.streams[l].values<float>(), expected.streams[l].values<float>()));
  }
}

TEST_F(PromptViews, predict_the_same_whether_predictions_are_kept_or_not) {
  for (const std::vector<std::string>& changes :
       {std::vector<std::string>{}, {"logits scale=2 channels=7"}}) {
    const PromptView kept = view(changes);
    ASSERT_TRUE(kept.log_probabilities.defined());
    PromptView forgotten = kept;
    forgotten.log_probabilities = {};
    const Tensor expected = ViewPredictions(model_, forgotten).log_probabilities({2, 7}),
                 made = ViewPredictions(model_, kept).log_probabilities({2, 7});
    ASSERT_EQ(made.shape(), expected.shape());
    for (size_t i = 0; i < made.values<float>().size(); ++i)
      EXPECT_NEAR(made.values<float>()[i], expected.values<float>()[i], 1e-5);
  }
}

TEST(Thumbnails, are_exact_where_there_is_room) {
  const std::vector<float> values = {0.0F, 0.25F, 0.5F, 1.0F};
  const Thumbnail small = thumbnail_of({values.data(), 2, 2, 2}, Reduction::Maximum);
  EXPECT_EQ(small.codes, (std::vector<uint8_t>{0, 64, 128, 255}));
  EXPECT_EQ(small.low, 0.0F);
  EXPECT_EQ(small.high, 1.0F);
}

TEST(Thumbnails, keep_a_thin_line_by_its_maximum_and_fade_it_by_its_mean) {
  std::vector<float> values(128 * 128);
  for (size_t row = 0; row < 128; ++row) values[row * 128 + 77] = 1.0F;
  const ReducedMatrix matrix{values.data(), 128, 128, 128};
  const Thumbnail line = thumbnail_of(matrix, Reduction::Maximum),
                  faded = thumbnail_of(matrix, Reduction::Mean);
  EXPECT_EQ(line.rows, 64);
  EXPECT_EQ(line.codes[38], 255);
  EXPECT_EQ(line.codes[37], 0);
  EXPECT_EQ(faded.high, 0.5F);
}

TEST(Thumbnails, of_a_constant_have_no_steps) {
  const std::vector<float> values(4, 0.3F);
  const Thumbnail flat = thumbnail_of({values.data(), 2, 2, 2}, Reduction::Mean);
  EXPECT_EQ(flat.codes, std::vector<uint8_t>(4, 0));
  EXPECT_EQ(flat.step(), 0.0F);
}

TEST(SingularValues, of_known_matrices) {
  const SingularValues diagonal = singular_values({3, 0, 0, 0, 0, -5}, 3);
  ASSERT_EQ(diagonal.size(), 2U);
  EXPECT_NEAR(diagonal[0], 5, 1e-12);
  EXPECT_NEAR(diagonal[1], 3, 1e-12);
  // Rows that depend on each other.
  const SingularValues dependent = singular_values({1, 2, 3, 2, 4, 6, 1, 0, 1}, 3);
  EXPECT_EQ(rank_of(dependent), 2);
  EXPECT_EQ(rank_of(singular_values({0, 0, 0, 0}, 2)), 0);
  EXPECT_EQ(rank_of({}), 0);
}

TEST(Sampler, tells_what_a_draw_is_made_from) {
  const std::vector<float> logits = {std::log(0.5F), std::log(0.2F), std::log(0.3F)};
  const auto two = Sampler::candidates(logits, {.temperature = 1, .top_k = 2});
  ASSERT_EQ(two.size(), 2U);
  EXPECT_EQ(two[1].id, 2);
  EXPECT_NEAR(two[1].weight, 0.375, 1e-6);
  EXPECT_EQ(Sampler::candidates(logits, {.temperature = 0}).size(), 1U);
}

}  // namespace
}  // namespace sluice
