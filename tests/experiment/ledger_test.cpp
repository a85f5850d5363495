// What is known of runs that are gone: which plans it holds for, and that no writer loses another's record.
#include "sluice/experiment/ledger.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>

#include "sluice/base/error.h"
#include "tests/base/temporary_directory.h"

namespace sluice {
namespace {

Experiment known_experiment() {
  return {.name = "asked",
          .text = {.kind = ExperimentText::Kind::Backcopy, .seed = 3, .documents = 60},
          .run = "nursery-baseline",
          .changes = {"steps=2", "schedule.warmup=1"},
          .variants = {{{.name = "base"}}, {{.name = "wide", .changes = {"model.intermediate_size=200"}}}},
          .seeds = 2,
          .course = true};
}

RunRecord known_run(const Experiment& experiment, size_t variant, int seed) {
  const PlannedVariant planned = planned_variants(experiment).at(variant);
  return {.figures = {.variant = planned.point.name(),
                      .seed = seed,
                      .validation_loss = 2.0 / 3,
                      .sink = 0.1,
                      .max_activation = 7,
                      .gate_mean = std::nan(""),
                      .copy_accuracy = 1,
                      .excess = 1e-300,
                      .spikes = 2,
                      .seconds = 60},
          .steps = 2,
          .tokens = 512,
          .sink_floor = 0.0424,
          .course = {{.step = 1, .tokens = 256, .loss = std::nan(""), .first_value = 0.5}},
          .plan = run_plan(experiment, planned, seed),
          .text = "backcopy-3-60",
          .machine = "a CPU, avx2"};
}

class Ledgers : public testing::Test {
 protected:
  std::string refusal(const Experiment& experiment) const {
    try {
      Ledger(experiment, directory_.path());
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::BadInput);
      return error.what();
    }
    return "not refused";
  }

  TemporaryDirectory directory_;
};

TEST_F(Ledgers, keep_every_digit) {
  const Experiment experiment = known_experiment();
  Ledger(experiment, directory_.path()).add(known_run(experiment, 1, 2));
  const Ledger again(experiment, directory_.path());
  EXPECT_EQ(again.find("base", 2), nullptr);
  const RunRecord* found = again.find("wide", 2);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->figures.validation_loss, 2.0 / 3);
  EXPECT_EQ(found->figures.excess, 1e-300);
  EXPECT_TRUE(std::isnan(found->figures.gate_mean));
  EXPECT_EQ(found->figures.spikes, 2);
  EXPECT_EQ(found->machine, "a CPU, avx2");
  ASSERT_EQ(found->course.size(), 1U);
  EXPECT_TRUE(std::isnan(found->course[0].loss));
  EXPECT_EQ(found->course[0].first_value, 0.5);
}

TEST_F(Ledgers, lose_nothing_that_another_process_has_added_meanwhile) {
  const Experiment experiment = known_experiment();
  Ledger one(experiment, directory_.path()), other(experiment, directory_.path());
  one.add(known_run(experiment, 0, 1));
  RunRecord second = known_run(experiment, 0, 1);
  second.machine = "another CPU";
  other.add(second);
  other.add(known_run(experiment, 1, 1));
  one.add(known_run(experiment, 0, 2));
  const Ledger all(experiment, directory_.path());
  ASSERT_NE(all.find("base", 1), nullptr);
  EXPECT_EQ(all.find("base", 1)->machine, "a CPU, avx2") << "the first record stays";
  EXPECT_NE(all.find("wide", 1), nullptr);
  EXPECT_NE(all.find("base", 2), nullptr);
}

TEST_F(Ledgers, hold_for_what_was_planned_and_for_nothing_else) {
  const Experiment experiment = known_experiment();
  Ledger(experiment, directory_.path()).add(known_run(experiment, 0, 1));
  EXPECT_EQ(refusal(experiment), "not refused");
  const std::vector<std::function<void(Experiment&)>> changes = {
      [](Experiment& e) {
        e.changes = {"steps=3", "schedule.warmup=1"};
      },
      [](Experiment& e) { e.run = "nursery-headwise"; },
      [](Experiment& e) { e.text.seed = 4; },
      [](Experiment& e) { e.variants[0].changes = {"init.std=0.03"}; },
      [](Experiment& e) { e.course = false; },
      [](Experiment& e) { e.breaking.emplace(); },
  };
  for (const auto& change : changes) {
    Experiment other = known_experiment();
    change(other);
    EXPECT_NE(refusal(other).find("was trained for another plan"), std::string::npos) << refusal(other);
  }
  Experiment fewer = known_experiment();
  fewer.first_seed = 2;
  EXPECT_NE(refusal(fewer).find("base, seed 1, is no run of asked"), std::string::npos) << refusal(fewer);
}

TEST_F(Ledgers, may_be_looked_at_otherwise) {
  Experiment experiment = known_experiment();
  Ledger(experiment, directory_.path()).add(known_run(experiment, 0, 1));
  experiment.question = "Or does it?";
  experiment.seeds = 5;
  experiment.looks = {{.pairs = 5, .error = 0.05}};
  EXPECT_EQ(refusal(experiment), "not refused");
}

TEST_F(Ledgers, refuse_runs_that_saw_another_text) {
  const Experiment experiment = known_experiment();
  Ledger ledger(experiment, directory_.path());
  ledger.add(known_run(experiment, 0, 1));
  RunRecord other = known_run(experiment, 0, 2);
  other.text = "corpus-0123";
  EXPECT_THROW(ledger.add(other), Error);
  EXPECT_THROW(ledger.check_text("corpus-0123"), Error);
}

TEST_F(Ledgers, refuse_a_line_that_is_torn_off) {
  const Experiment experiment = known_experiment();
  Ledger(experiment, directory_.path()).add(known_run(experiment, 0, 1));
  std::ofstream(directory_.path() / "asked.jsonl", std::ios::app) << R"({"variant":"wide","seed":1,"div)";
  EXPECT_NE(refusal(experiment).find("asked.jsonl: line 2"), std::string::npos) << refusal(experiment);
}

TEST_F(Ledgers, refuse_a_run_that_lacks_what_the_experiment_asks_for) {
  const Experiment experiment = known_experiment();
  RunRecord record = known_run(experiment, 0, 1);
  record.course.clear();
  Ledger(experiment, directory_.path()).add(record);
  EXPECT_NE(refusal(experiment).find("course"), std::string::npos) << refusal(experiment);
}

}  // namespace
}  // namespace sluice
