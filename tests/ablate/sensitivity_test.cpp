#include "sluice/ablate/sensitivity.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sluice/ablate/ablation_analysis.h"

namespace sluice {
namespace {

using Values = std::vector<double>;

TEST(Sensitivity, fits_a_line_and_finds_the_point_that_it_hangs_on) {
  // Four points without a trend and one far away, as layer 0 is.
  const Values x = {1, 2, 3, 4, 20}, y = {1, 2, 1, 2, 30};
  const Sensitivity found = sensitivity(x, y);
  EXPECT_GT(found.all.r_squared, 0.9);
  EXPECT_EQ(found.outliers, std::vector<size_t>{4});
  EXPECT_GT(found.influence[4].leverage, 0.9);
  EXPECT_GT(found.influence[4].cook, found.threshold);
  EXPECT_LT(found.without.r_squared, 0.3);
  EXPECT_EQ(found.without.count, 4);
  double leverages = 0;
  for (const Influence& point : found.influence) leverages += point.leverage;
  EXPECT_NEAR(leverages, 2, 1e-12) << "as many as the line has coefficients";
}

TEST(Sensitivity, has_cooks_distance_as_it_is_defined) {
  const Values x = {0, 1, 2, 3}, y = {0, 1, 2, 6};
  const Sensitivity found = sensitivity(x, y);
  const auto line_at = [](const Association& line, double at) { return line.intercept + line.slope * at; };
  double residuals = 0;
  for (size_t i = 0; i < 4; ++i) residuals += std::pow(y[i] - line_at(found.all, x[i]), 2);
  // How far the fitted values move without the last point, in units of the variance.
  const Association without = association(Values{0, 1, 2}, Values{0, 1, 2});
  double moved = 0;
  for (const double at : x) moved += std::pow(line_at(found.all, at) - line_at(without, at), 2);
  EXPECT_NEAR(found.influence[3].cook, moved / (2 * residuals / 2), 1e-9);
}

TEST(Sensitivity, tests_a_correlation_by_drawing_the_pairs_anew) {
  Values x, up, mixed = {3, 9, 1, 7, 5, 2, 8, 0, 6, 4};
  for (int i = 0; i < 10; ++i) {
    x.push_back(i);
    up.push_back(i * i);
  }
  EXPECT_LT(rank_correlation_p(x, up), 0.005);
  EXPECT_GT(rank_correlation_p(x, mixed), 0.3);
  EXPECT_GT(rank_correlation_p(x, up), 0);
}

TEST(Sensitivity, says_nothing_where_there_is_nothing_to_say) {
  EXPECT_TRUE(std::isnan(sensitivity(Values{1, 2}, Values{1, 2}).all.p));
  EXPECT_TRUE(std::isnan(sensitivity(Values{1, 1, 1, 1}, Values{1, 2, 3, 4}).all.r_squared));
  EXPECT_TRUE(sensitivity(Values{1, 1, 1, 1}, Values{1, 2, 3, 4}).outliers.empty());
}

RunEffect effect_with(std::vector<double> changes) {
  RunEffect effect{.chunks = std::ssize(changes), .by_chunk = changes};
  effect.nll = mean_of_samples(changes);
  return effect;
}

PlannedRun layer_run(int64_t layer, const std::string& action) {
  return {.name = "layer " + std::to_string(layer) + " " + action,
          .group = "layers",
          .action = action,
          .layer = layer,
          .interventions = {}};
}

AblatedModel two_layers() {
  AblatedModel model{.name = "m", .layers = 2, .plan = {{layer_run(0, "open"), layer_run(1, "open")}}};
  // On its own chunks layer 0 looks worse; on those that both have it does not.
  model.texts.push_back({.name = "t",
                         .chunks = 4,
                         .base_by_chunk = {2, 2, 2, 2},
                         .effects = {effect_with({1, 1, 9, 9}), effect_with({2, 2})}});
  return model;
}

TEST(Profiles, compare_runs_only_on_chunks_that_all_have) {
  const AblatedModel model = two_layers();
  const EffectProfile profile = effect_profile(model, model.texts[0], "layers", "open");
  EXPECT_EQ(profile.chunks, 2);
  EXPECT_EQ(profile.places[0].nll, 1);
  EXPECT_EQ(profile.places[1].nll, 2);
  EXPECT_EQ(ranked(profile).front().layer, 1);
  EXPECT_EQ(layers_by_effect(model, 1), std::vector<int64_t>{1});
  EXPECT_NEAR(profile.places[0].nll_share, 1.0 / 3, 1e-12);
  EXPECT_NEAR(profile.places[1].ppl, std::exp(4) - std::exp(2), 1e-9);
}

TEST(Profiles, put_what_is_beyond_numbers_first) {
  AblatedModel model = two_layers();
  model.texts[0].effects[0].finite = false;
  EXPECT_EQ(layers_by_effect(model, 1), std::vector<int64_t>{0});
}

TEST(Profiles, pair_runs_with_their_controls) {
  AblatedModel model = two_layers();
  PlannedRun control = layer_run(0, "zeroed");
  control.group = "controls";
  control.control_of = "layer 0 open";
  model.plan.runs.push_back(control);
  model.texts[0].effects.push_back(effect_with({0.5, 0.5, 0.5}));
  const std::vector<ControlPair> pairs = control_pairs(model, model.texts[0], {});
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_FALSE(pairs[0].sequence) << "three chunks say nothing";
  EXPECT_EQ(pairs[0].chunks, 3);
  EXPECT_NEAR(pairs[0].difference.value, (0.5 + 0.5 + 8.5) / 3, 1e-12);
}

TEST(Profiles, give_differences_from_controls_an_interval_for_all_comparisons) {
  AblatedModel model = two_layers();
  model.plan.runs.push_back(layer_run(0, "zeroed"));
  model.plan.runs.back().control_of = "layer 0 open";
  std::vector<double> changes, controls;
  for (int i = 0; i < 12; ++i) {
    changes.push_back(3 + 0.1 * (i % 3));
    controls.push_back(1 + 0.1 * (i % 2));
  }
  model.texts[0].effects = {effect_with(changes), effect_with(changes), effect_with(controls)};
  const ControlPair of_one = control_pairs(model, model.texts[0], {}).at(0);
  const ControlPair of_many = control_pairs(model, model.texts[0], {.comparisons = 100}).at(0);
  ASSERT_TRUE(of_one.sequence && of_many.sequence);
  EXPECT_LT(of_one.sequence->low, of_one.difference.ci95->low) << "wider than for one look at the end";
  EXPECT_LT(of_many.sequence->low, of_one.sequence->low);
}

TEST(EstimatesBesideRuns, are_of_the_gate_that_the_run_changes) {
  AblatedModel model = two_layers();
  for (int64_t layer = 0; layer < 2; ++layer)
    model.plan.runs[static_cast<size_t>(layer)].interventions = {"layers." + std::to_string(layer) +
                                                                 ".attn.gate set=1"};
  const auto estimates_at = [](const std::string& tap, double nll) {
    return ActionEstimates{
        .tap = tap, .layers = {{.layer = 0, .whole = {.nll = nll}}, {.layer = 1, .whole = {.nll = nll}}}};
  };
  model.estimates =
      GateEstimates{.estimates = {estimates_at("attn.query_gate", 7), estimates_at("attn.gate", 1)}};
  const std::vector<EstimateComparison> comparisons = compare_estimates(model);
  ASSERT_EQ(comparisons.size(), 1u) << "nothing was run on the other gate";
  EXPECT_EQ(comparisons[0].tap, "attn.gate");
  EXPECT_EQ(comparisons[0].estimated, (std::vector<double>{1, 1}));
}

}  // namespace
}  // namespace sluice
