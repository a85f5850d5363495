#include "sluice/ablate/experiment.h"

#include <nlohmann/json.hpp>

#include "sluice/ablate/experiment_runs.h"
#include "sluice/base/error.h"
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

MeasuredTraining run_of(const std::string& variant, int seed, double loss) {
  return {.variant = variant, .seed = seed, .validation_loss = loss, .copy_accuracy = 1};
}

ExperimentResult losses(const std::vector<double>& base, const std::vector<double>& gated) {
  ExperimentResult result{.experiment = {.name = "x",
                                         .looks = {{.pairs = 2, .error = 0.01}, {.pairs = 4, .error = 0.04}},
                                         .solved = 0.5},
                          .variants = {"a", "b"}};
  for (size_t i = 0; i < base.size(); ++i)
    result.runs.push_back(run_of("a", static_cast<int>(i) + 1, base[i]));
  for (size_t i = 0; i < gated.size(); ++i)
    result.runs.push_back(run_of("b", static_cast<int>(i) + 1, gated[i]));
  return result;
}

PlannedDifference loss_difference(const ExperimentResult& result) {
  return planned_difference(result, "b", &MeasuredTraining::validation_loss);
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

}  // namespace
}  // namespace sluice
