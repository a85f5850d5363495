// What runs say together: when a look is reached, and which condition a tuning experiment has chosen.
#include "sluice/experiment/experiment_result.h"

#include <gtest/gtest.h>

#include "sluice/base/error.h"
#include "sluice/experiment/experiment_tuning.h"

namespace sluice {
namespace {

PlannedVariant variant_named(const std::string& name) {
  return {.point = {.changes = {}, .title = name}, .variant = name};
}

MeasuredTraining run_of(const std::string& variant, int seed, double loss) {
  return {.variant = variant, .seed = seed, .validation_loss = loss, .copy_accuracy = 1};
}

ExperimentResult losses(const std::vector<double>& base, const std::vector<double>& gated) {
  ExperimentResult result{.experiment = {.name = "x",
                                         .looks = {{.pairs = 2, .error = 0.01}, {.pairs = 4, .error = 0.04}},
                                         .solved = 0.5},
                          .variants = {variant_named("a"), variant_named("b")}};
  for (size_t i = 0; i < base.size(); ++i)
    result.runs.push_back(run_of("a", static_cast<int>(i) + 1, base[i]));
  for (size_t i = 0; i < gated.size(); ++i)
    result.runs.push_back(run_of("b", static_cast<int>(i) + 1, gated[i]));
  return result;
}

DifferenceAtLook loss_difference(const ExperimentResult& result) {
  return planned_difference(result, result.variants[1], &MeasuredTraining::validation_loss);
}

TEST(DifferenceAtLook, before_the_first_look_is_none) {
  const DifferenceAtLook planned = loss_difference(losses({1, 2}, {2}));
  EXPECT_EQ(planned.ended_pairs, 1);
  EXPECT_FALSE(planned.look.has_value());
}

TEST(DifferenceAtLook, leaves_pairs_after_a_look_to_the_next) {
  const DifferenceAtLook planned = loss_difference(losses({1, 1, 1}, {2, 3, 100}));
  EXPECT_EQ(planned.ended_pairs, 3);
  EXPECT_EQ(planned.look->pairs, 2);
  EXPECT_EQ(planned.difference->count, 2);
  EXPECT_DOUBLE_EQ(planned.difference->mean, 1.5);
  EXPECT_NEAR(*planned.difference->half_width, student_limit(0.01, 1) * 0.5, 1e-9);
}

TEST(DifferenceAtLook, leaves_out_pairs_of_which_one_does_not_count) {
  ExperimentResult result = losses({1, 1, 1, 1}, {2, 3, 4, 6});
  result.runs[0].copy_accuracy = 0.4;  // seed 1 of the first variant
  result.runs[5].diverged = true;      // seed 2 of the other
  const DifferenceAtLook planned = loss_difference(result);
  EXPECT_EQ(planned.look->pairs, 4);
  EXPECT_EQ(planned.difference->count, 2);
  EXPECT_DOUBLE_EQ(planned.difference->mean, 4);
}

TEST(DifferenceAtLook, waits_for_no_others_in_place_of_pairs_that_do_not_count) {
  ExperimentResult result = losses({1, 1, 1}, {2, 3, 4});
  result.runs[0].copy_accuracy = 0.4;  // seed 1 of the first variant
  result.runs[4].diverged = true;      // seed 2 of the other
  const DifferenceAtLook planned = loss_difference(result);
  EXPECT_EQ(planned.ended_pairs, 3);
  EXPECT_EQ(planned.look->pairs, 2);
  EXPECT_FALSE(planned.difference.has_value()) << "the third pair was not planned to be looked at yet";
}

// One variant under conditions 0, 1, … of these places, with so many seeds each.
ExperimentResult tuning_of(const std::vector<double>& losses, int seeds = 1) {
  ExperimentResult result{
      .experiment = {.name = "rates", .variants = {{{.name = "a"}}}, .seeds = seeds, .first_seed = 101},
      .planned = std::ssize(losses) * seeds};
  for (size_t i = 0; i < losses.size(); ++i) {
    const std::string name = "a," + std::to_string(i);
    result.experiment.conditions.push_back({{.name = std::to_string(i)}});
    result.variants.push_back({.point = {.changes = {}, .title = name},
                               .variant = "a",
                               .condition = result.experiment.conditions.back().name});
    result.variants.back().reference = i;
    result.variants.back().at = static_cast<double>(i);
    for (int seed = 0; seed < seeds; ++seed) result.runs.push_back(run_of(name, 101 + seed, losses[i]));
  }
  return result;
}

// The line that the choice is refused with.
std::string refusal_to_choose(const ExperimentResult& tuning) {
  try {
    return "not refused: " + best_condition(tuning).name;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::BadInput);
    return error.what();
  }
}

TEST(TunedExperiments, take_the_best_condition) {
  EXPECT_EQ(best_condition(tuning_of({3, 2, 1, 4})).name, "2");
}

TEST(TunedExperiments, refuse_a_best_condition_at_the_edge) {
  EXPECT_EQ(refusal_to_choose(tuning_of({1, 2, 3})),
            "rates: the best condition, 0, is at the edge of the grid (widen the grid)");
  EXPECT_EQ(refusal_to_choose(tuning_of({3, 2, 1})),
            "rates: the best condition, 2, is at the edge of the grid (widen the grid)");
}

TEST(TunedExperiments, find_the_edge_by_places_and_not_by_their_order) {
  ExperimentResult tuning = tuning_of({3, 1, 4});
  tuning.variants[1].at = 5;
  EXPECT_EQ(refusal_to_choose(tuning),
            "rates: the best condition, 1, is at the edge of the grid (widen the grid)");
  tuning = tuning_of({1, 3, 4});
  tuning.variants[0].at = 1.5;
  EXPECT_EQ(best_condition(tuning).name, "0");
}

TEST(TunedExperiments, know_no_edge_of_conditions_in_one_place) {
  ExperimentResult tuning = tuning_of({3, 1, 4});
  for (PlannedVariant& each : tuning.variants) each.at = 7;
  EXPECT_EQ(refusal_to_choose(tuning),
            "rates: two of its conditions have the same place (give each its own: \"at\")");
}

TEST(TunedExperiments, know_no_edge_of_named_conditions) {
  ExperimentResult tuning = tuning_of({3, 1, 4});
  tuning.experiment.condition_axis = ConditionAxis::Names;
  EXPECT_EQ(refusal_to_choose(tuning),
            "rates: no edge is known of conditions that are names (the best of "
            "them may lie beyond: give them places on a line)");
}

TEST(TunedExperiments, choose_no_condition_under_which_runs_diverge) {
  ExperimentResult tuning = tuning_of({3, 2, 1, 0.5, 4}, 2);
  tuning.runs[6].diverged = true;  // the better half of what is left would praise the rate
  EXPECT_EQ(best_condition(tuning).name, "2");
  for (size_t i = 0; i < tuning.runs.size(); i += 2) tuning.runs[i].diverged = true;
  EXPECT_EQ(refusal_to_choose(tuning),
            "rates: there is no condition under which all runs of a count (runs "
            "that diverge or do not solve their task choose nothing)");
}

TEST(TunedExperiments, wait_for_all_runs_of_what_tunes_them) {
  ExperimentResult tuning = tuning_of({3, 1, 4});
  tuning.runs.pop_back();
  EXPECT_EQ(refusal_to_choose(tuning), "rates: 2 of 3 runs have ended (train it before what it tunes)");
}

}  // namespace
}  // namespace sluice
