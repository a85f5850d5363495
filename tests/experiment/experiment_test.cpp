#include "sluice/experiment/experiment.h"

#include <nlohmann/json.hpp>

#include "sluice/base/error.h"
#include "sluice/experiment/experiment_runs.h"
#include "sluice/experiment/experiment_text.h"
#include "sluice/experiment/experiment_tuning.h"
#include "tests/train/runs.h"

namespace sluice {
namespace {

nlohmann::ordered_json asked() {
  return {{"question", "Does it?"},
          {"text", {{"kind", "backcopy"}, {"seed", 3}, {"documents", 60}}},
          {"run", "nursery-baseline"},
          {"vary", {"model=nursery-baseline,nursery-headwise"}},
          {"seeds", 3},
          {"looks", {{{"pairs", 2}, {"error", 0.01}}, {{"pairs", 3}, {"error", 0.04}}}},
          {"solved", 0.5}};
}

class ExperimentFiles : public testing::Test {
 protected:
  Experiment read(const nlohmann::ordered_json& json) const {
    return read_experiment(directory_.file("asked.json", json.dump()));
  }

  // The line that the file is refused with.
  std::string refusal(const nlohmann::ordered_json& json) const {
    try {
      read(json);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::BadInput);
      return error.what();
    }
    return "not refused";
  }

  TemporaryDirectory directory_;
};

TEST_F(ExperimentFiles, say_what_was_decided_beforehand) {
  const Experiment experiment = read(asked());
  EXPECT_EQ(experiment.name, "asked");
  EXPECT_EQ(experiment.text.stem(), "backcopy-3-60");
  EXPECT_EQ(experiment.axes.at(0).values.size(), 2U);
  EXPECT_EQ(experiment.looks.at(1).pairs, 3);
  EXPECT_EQ(experiment.solved, 0.5);
  EXPECT_EQ(experiment.equal_loss, 0.01);
}

TEST_F(ExperimentFiles, may_not_spend_more_error_than_there_is) {
  nlohmann::ordered_json json = asked();
  json["looks"][0]["error"] = 0.02;
  EXPECT_NE(refusal(json).find("errors that add up to at most 0.05"), std::string::npos) << refusal(json);
}

TEST_F(ExperimentFiles, look_at_more_pairs_each_time) {
  nlohmann::ordered_json json = asked();
  json["looks"][1]["pairs"] = 2;
  EXPECT_NE(refusal(json).find("more pairs than at the look before"), std::string::npos) << refusal(json);
}

TEST_F(ExperimentFiles, look_at_no_more_pairs_than_there_are_seeds) {
  nlohmann::ordered_json json = asked();
  json["looks"][1]["pairs"] = 4;
  EXPECT_NE(refusal(json).find("looks[1].pairs"), std::string::npos) << refusal(json);
}

TEST_F(ExperimentFiles, count_copies_of_copied_text_alone) {
  nlohmann::ordered_json json = asked();
  json["text"] = {{"kind", "synth"}};
  EXPECT_NE(refusal(json).find("solved"), std::string::npos) << refusal(json);
}

nlohmann::ordered_json asked_at_two_sizes() {
  nlohmann::ordered_json json = asked();
  json.erase("vary");
  json["variants"] = {
      {{"name", "base"}},
      {{"name", "gated"}, {"set", {"model.gates=[{\"position\": \"g1\"}]"}}, {"equal_parameters", true}},
      {{"name", "larger"}, {"set", {"model.gates=[{\"position\": \"g1\"}]"}}}};
  json["condition"] = "parameters";
  json["conditions"] = {{{"name", "small"}, {"set", {"model.num_hidden_layers=1"}}},
                        {{"name", "large"}, {"at", 2}}};
  return json;
}

TEST_F(ExperimentFiles, compare_variants_under_each_condition) {
  const std::vector<PlannedVariant> planned = planned_variants(read(asked_at_two_sizes()));
  ASSERT_EQ(planned.size(), 6U);
  EXPECT_EQ(planned[1].point.name(), "gated,small");
  EXPECT_EQ(planned[2].against, 0U);
  EXPECT_EQ(planned[3].against, 3U);
  EXPECT_EQ(planned[5].against, 3U);
  EXPECT_EQ(planned[1].at, static_cast<double>(planned[0].parameters)) << "no place of its own";
  EXPECT_EQ(planned[4].at, 2);
}

TEST_F(ExperimentFiles, give_named_conditions_no_place_on_a_line) {
  nlohmann::ordered_json json = asked_at_two_sizes();
  EXPECT_EQ(read(json).condition_axis, ConditionAxis::Values);
  json["condition_axis"] = "names";
  EXPECT_NE(refusal(json).find("conditions[1].at"), std::string::npos) << refusal(json);
  json["conditions"][1].erase("at");
  EXPECT_EQ(read(json).condition_axis, ConditionAxis::Names);
}

TEST_F(ExperimentFiles, take_what_a_gate_adds_from_the_feed_forward_part) {
  for (size_t first : {0U, 3U}) {
    const std::vector<PlannedVariant> planned = planned_variants(read(asked_at_two_sizes()));
    const auto base = static_cast<double>(planned[first].parameters);
    const int64_t layers = first == 0 ? 1 : 3;
    EXPECT_NEAR(static_cast<double>(planned[first + 1].parameters), base,
                3 * 64 * static_cast<double>(layers) / 2)
        << "half a channel of it";
    EXPECT_EQ(planned[first + 2].parameters - planned[first].parameters, layers * 64 * 64);
  }
}

TEST_F(ExperimentFiles, refuse_grids_that_are_two) {
  nlohmann::ordered_json json = asked_at_two_sizes();
  json["vary"] = asked()["vary"];
  EXPECT_NE(refusal(json).find("either \"vary\" or \"variants\""), std::string::npos) << refusal(json);
  json = asked();
  json["conditions"] = asked_at_two_sizes()["conditions"];
  EXPECT_NE(refusal(json).find("variants beside conditions"), std::string::npos) << refusal(json);
}

TEST_F(ExperimentFiles, refuse_names_that_are_paths) {
  nlohmann::ordered_json json = asked_at_two_sizes();
  json["variants"][1]["name"] = "../gated";
  EXPECT_NE(refusal(json).find("variants[1].name"), std::string::npos) << refusal(json);
}

TEST_F(ExperimentFiles, take_runs_from_no_place_outside) {
  nlohmann::ordered_json json = asked();
  json["runs"] = "..";
  EXPECT_NE(refusal(json).find("runs"), std::string::npos) << refusal(json);
}

TEST_F(ExperimentFiles, look_at_nothing_only_if_there_is_one_seed) {
  nlohmann::ordered_json json = asked();
  json["looks"] = nlohmann::ordered_json::array();
  EXPECT_NE(refusal(json).find("at least one look"), std::string::npos) << refusal(json);
  json["seeds"] = 1;
  EXPECT_TRUE(read(json).looks.empty());
}

TEST_F(ExperimentFiles, make_new_tokens_of_a_text_that_was_replaced) {
  const Threads threads(1);
  const ExperimentText text{.kind = ExperimentText::Kind::File, .file = "own.txt"};
  directory_.file("own.txt", "first");
  const ExperimentTokens first = prepare_text(text, directory_.path(), threads);
  EXPECT_EQ(prepare_text(text, directory_.path(), threads).tokens, first.tokens);
  directory_.file("own.txt", "other text");
  const ExperimentTokens second = prepare_text(text, directory_.path(), threads);
  EXPECT_NE(second.tokens, first.tokens);
  EXPECT_EQ(TokenShard(second.tokens).info().text_bytes, 10);
}

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

PlannedDifference loss_difference(const ExperimentResult& result) {
  return planned_difference(result, result.variants[1], &MeasuredTraining::validation_loss);
}

TEST(PlannedDifference, before_the_first_look_is_none) {
  const PlannedDifference planned = loss_difference(losses({1, 2}, {2}));
  EXPECT_EQ(planned.pairs, 1);
  EXPECT_FALSE(planned.look.has_value());
}

TEST(PlannedDifference, leaves_pairs_after_a_look_to_the_next) {
  const PlannedDifference planned = loss_difference(losses({1, 1, 1}, {2, 3, 100}));
  EXPECT_EQ(planned.pairs, 3);
  EXPECT_EQ(planned.look->pairs, 2);
  EXPECT_EQ(planned.difference->count, 2);
  EXPECT_DOUBLE_EQ(planned.difference->mean, 1.5);
  EXPECT_NEAR(*planned.difference->half_width, student_limit(0.01, 1) * 0.5, 1e-9);
}

TEST(PlannedDifference, leaves_out_pairs_of_which_one_does_not_count) {
  ExperimentResult result = losses({1, 1, 1}, {2, 3, 4});
  result.runs[0].copy_accuracy = 0.4;  // seed 1 of the first variant
  result.runs[4].diverged = true;      // seed 2 of the other
  EXPECT_EQ(loss_difference(result).pairs, 1);
  EXPECT_DOUBLE_EQ(loss_difference(result).difference->mean, 3);
}

ExperimentResult tuning_of(const std::vector<double>& losses) {
  ExperimentResult result{.experiment = {.name = "rates", .variants = {{{.name = "a"}}}},
                          .planned = std::ssize(losses)};
  for (size_t i = 0; i < losses.size(); ++i) {
    const std::string name = "a," + std::to_string(i);
    result.experiment.conditions.push_back({{.name = std::to_string(i)}});
    result.variants.push_back(variant_named(name));
    result.variants.back().against = i;
    result.runs.push_back(run_of(name, 101, losses[i]));
  }
  return result;
}

TEST(TunedExperiments, take_the_best_condition) {
  EXPECT_EQ(best_condition(tuning_of({3, 2, 1, 4})).name, "2");
}

TEST(TunedExperiments, refuse_a_best_condition_at_the_edge) {
  EXPECT_THROW(best_condition(tuning_of({1, 2, 3})), Error);
  EXPECT_THROW(best_condition(tuning_of({3, 2, 1})), Error);
}

TEST(TunedExperiments, wait_for_all_runs_of_what_tunes_them) {
  ExperimentResult tuning = tuning_of({3, 1, 4});
  tuning.runs.pop_back();
  EXPECT_THROW(best_condition(tuning), Error);
}

// A whole experiment with runs of a few steps.
TEST_F(ExperimentFiles, train_measure_and_go_on) {
  nlohmann::ordered_json json = asked();
  json["set"] = {
      "steps=2",           "batch_tokens=256",          "validation.every=2",  "validation.sequences=1",
      "schedule.warmup=1", "model.num_hidden_layers=1", "validation.share=0.1"};
  json["seeds"] = 2;
  json["looks"] = {{{"pairs", 2}, {"error", 0.05}}};
  Engine engine({.threads = 1});
  ExperimentRequest request{
      .experiment = read(json), .home = directory_.path() / "home", .runs = RunSelection::Ended};
  EXPECT_TRUE(run_experiment(engine, request).runs.empty());
  request.runs = RunSelection::All;
  const ExperimentResult result = run_experiment(engine, request);
  ASSERT_EQ(result.runs.size(), 4U);
  EXPECT_EQ(result.planned, 4);
  EXPECT_EQ(result.steps, 2);
  for (const MeasuredTraining& run : result.runs) {
    EXPECT_GT(run.sink, 0) << run.variant;
    EXPECT_LT(run.copy_accuracy, 0.5) << "nothing is learnt in two steps";
    EXPECT_EQ(std::isfinite(run.gate_mean), run.variant == "nursery-headwise");
  }
  request.runs = RunSelection::Ended;
  EXPECT_EQ(to_json(run_experiment(engine, request)), to_json(result)) << "nothing was trained again";
}

TEST_F(ExperimentFiles, measure_every_checkpoint_and_break_every_model) {
  nlohmann::ordered_json json = asked();
  json["set"] = {
      "steps=2",           "batch_tokens=256",          "validation.every=2",   "validation.sequences=1",
      "schedule.warmup=1", "model.num_hidden_layers=1", "validation.share=0.1", "checkpoints.every=1",
      "checkpoints.keep=5"};
  json["looks"] = nlohmann::ordered_json::array();
  json["seeds"] = 1;
  json.erase("solved");
  json["equal_loss"] = 1;  // no head of an untrained model matters that much
  json["course"] = true;
  json["breaking"] = {{"interventions",
                       {{{"name", "open"}, {"do", {"attn.gate set=1"}}},
                        {{"name", "no attention"}, {"do", {"attn.gated set=0"}}}}},
                      {"train_on", 1}};
  Engine engine({.threads = 1});
  const ExperimentResult result =
      run_experiment(engine, {.experiment = read(json), .home = directory_.path() / "home"});
  ASSERT_EQ(result.courses.size(), 2U);
  ASSERT_EQ(result.courses[1].points.size(), 2U);
  EXPECT_EQ(result.courses[1].points[0].tokens, 256);
  EXPECT_NEAR(result.courses[1].points[1].sink, result.runs[1].sink, 1e-12) << "the last is the run's";
  EXPECT_GT(result.courses[1].points[1].first_value, 0);
  ASSERT_EQ(result.broken.size(), 2U);
  EXPECT_TRUE(std::isnan(result.broken[0].effects[0].loss)) << "a baseline has no gate to open";
  EXPECT_NE(result.broken[1].effects[0].loss, 0);
  EXPECT_NE(result.broken[0].effects[1].loss, 0);
  EXPECT_EQ(result.broken[0].heads, 2);
  EXPECT_EQ(result.broken[0].removed, 2);
  EXPECT_NE(result.broken[0].trained_on_loss, result.broken[0].removed_loss);
}

}  // namespace
}  // namespace sluice
