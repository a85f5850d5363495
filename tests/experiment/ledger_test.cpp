// What is known of runs that are gone: which plans it holds for, and that no writer loses another's record.
#include "sluice/experiment/ledger.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include <cmath>
#include <fstream>
#include <functional>

#include "sluice/base/error.h"
#include "sluice/base/file.h"
#include "tests/base/expect_error.h"
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
                      .head_sink = 0.25,
                      .max_activation = 7,
                      .gate_mean = std::nan(""),
                      .copy_accuracy = 1,
                      .excess = 1e-300,
                      .spikes = 2,
                      .seconds = 60,
                      .machine = "a CPU, avx2"},
          .steps = 2,
          .tokens = 512,
          .sink_floor = 0.0424,
          .course = {{.step = 1, .tokens = 256, .loss = std::nan(""), .first_value = 0.5}},
          .plan = run_plan(experiment, planned, seed),
          .text = "backcopy-3-60"};
}

Ledger opened(const Experiment& experiment, const std::filesystem::path& directory) {
  return {experiment, planned_variants(experiment), directory};
}

class Ledgers : public testing::Test {
 protected:
  std::string refusal(const Experiment& experiment) const {
    try {
      opened(experiment, directory_.path());
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
  opened(experiment, directory_.path()).add(known_run(experiment, 1, 2));
  const Ledger again = opened(experiment, directory_.path());
  EXPECT_EQ(again.find("base", 2), nullptr);
  const RunRecord* found = again.find("wide", 2);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->figures.validation_loss, 2.0 / 3);
  EXPECT_EQ(found->figures.excess, 1e-300);
  EXPECT_EQ(found->figures.head_sink, 0.25);
  EXPECT_TRUE(std::isnan(found->figures.gate_mean));
  EXPECT_EQ(found->figures.spikes, 2);
  EXPECT_EQ(found->figures.machine, "a CPU, avx2");
  ASSERT_EQ(found->course.size(), 1U);
  EXPECT_TRUE(std::isnan(found->course[0].loss));
  EXPECT_EQ(found->course[0].first_value, 0.5);
}

TEST_F(Ledgers, may_lack_a_figure_that_was_not_measured_yet_when_they_were_written) {
  const Experiment experiment = known_experiment();
  opened(experiment, directory_.path()).add(known_run(experiment, 1, 2));
  const std::filesystem::path file = directory_.path() / "asked.jsonl";
  std::string text = read_text(file, 1 << 20);
  const std::string figure = "\"head_sink\":0.25,";
  ASSERT_NE(text.find(figure), std::string::npos) << text;
  text.erase(text.find(figure), figure.size());
  std::ofstream(file) << text;
  const Ledger again = opened(experiment, directory_.path());
  ASSERT_NE(again.find("wide", 2), nullptr);
  EXPECT_TRUE(std::isnan(again.find("wide", 2)->figures.head_sink));
}

TEST_F(Ledgers, leave_the_lines_that_are_there_as_they_are) {
  const Experiment experiment = known_experiment();
  opened(experiment, directory_.path()).add(known_run(experiment, 0, 1));
  const std::filesystem::path file = directory_.path() / "asked.jsonl";
  std::string text = read_text(file, 1 << 20);
  text.replace(0, 1, R"({"of_a_later_version":7,)");
  text.pop_back();  // the line's end, which an editor may have dropped
  std::ofstream(file) << text;
  opened(experiment, directory_.path()).add(known_run(experiment, 1, 1));
  const std::string longer = read_text(file, 1 << 20);
  EXPECT_TRUE(longer.starts_with(text + "\n{")) << longer;
  EXPECT_NE(opened(experiment, directory_.path()).find("wide", 1), nullptr);
}

TEST_F(Ledgers, may_not_lack_what_decides_whether_a_run_counts_and_has_a_sink) {
  Experiment experiment = known_experiment();
  experiment.solved = 0.95;
  Ledger ledger = opened(experiment, directory_.path());
  RunRecord record = known_run(experiment, 0, 1);
  for (const auto figure :
       {&MeasuredTraining::sink, &MeasuredTraining::max_activation, &MeasuredTraining::validation_loss}) {
    RunRecord without = record;
    without.figures.*figure = std::nan("");
    EXPECT_THROW(ledger.add(without), Error);
  }
  record.figures.sink = std::nan("");
  EXPECT_BAD_INPUT(ledger.add(record),
                   "base, seed 1: expected a number for sink, unless the run diverged, got an object");
  record.figures.sink = 0.1;
  record.figures.copy_accuracy = std::nan("");
  EXPECT_BAD_INPUT(
      ledger.add(record),
      "base, seed 1: expected a copy_accuracy, which decides whether the run counts, got an object");
}

TEST_F(Ledgers, hold_what_is_kept_of_all_runs_together_once) {
  const Experiment experiment = known_experiment();
  Ledger ledger = opened(experiment, directory_.path());
  ledger.add(known_run(experiment, 0, 1));
  RunRecord other = known_run(experiment, 1, 1);
  other.sink_floor += 1e-12;  // summed up in another order
  ledger.add(other);
  other = known_run(experiment, 1, 2);
  other.sink_floor = 0.01;
  EXPECT_BAD_INPUT(ledger.add(other),
                   "wide, seed 2: sink_floor: expected 0.0424, as of base, seed 1, got 0.01");
  other = known_run(experiment, 1, 2);
  other.tokens = 513;
  EXPECT_BAD_INPUT(ledger.add(other), "wide, seed 2: tokens: expected 512, as of base, seed 1, got 513");
}

TEST_F(Ledgers, are_not_waited_for_by_somebody_who_is_cancelled) {
  const Experiment experiment = known_experiment();
  Ledger ledger = opened(experiment, directory_.path());
  const FileDescriptor other(::open(directory_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ASSERT_EQ(::flock(other.get(), LOCK_EX), 0);
  EXPECT_ERROR(ledger.add(known_run(experiment, 0, 1), {.cancelled = [] { return true; }}),
               ErrorKind::Interrupted, "interrupted");
}

TEST_F(Ledgers, know_of_a_run_that_diverged_how_far_it_came) {
  Experiment experiment = known_experiment();
  experiment.course = false;
  RunRecord record = known_run(experiment, 1, 2);
  record.figures = {
      .variant = record.figures.variant, .seed = 2, .diverged = true, .spikes = 9, .seconds = 3.5};
  record.steps = 1;
  opened(experiment, directory_.path()).add(record);
  const Ledger again = opened(experiment, directory_.path());
  const RunRecord* found = again.find("wide", 2);
  ASSERT_NE(found, nullptr);
  EXPECT_TRUE(found->figures.diverged);
  EXPECT_TRUE(std::isnan(found->figures.validation_loss));
  EXPECT_EQ(found->figures.spikes, 9);
  EXPECT_EQ(found->figures.seconds, 3.5);
  EXPECT_EQ(found->steps, 1);
}

TEST_F(Ledgers, keep_what_is_beyond_all_numbers_and_refuse_what_is_not_there) {
  Experiment experiment = known_experiment();
  experiment.course = false;
  experiment.breaking =
      BreakingPlan{.interventions = {{{.name = "all open", .changes = {"attn.gated set=1"}}},
                                     {{.name = "absurd", .changes = {"logits scale=9"}}}}};
  RunRecord record = known_run(experiment, 0, 1);
  record.course.clear();
  record.broken = BrokenRun{.effects = {{1.5, 0.1}, {INFINITY, std::nan("")}},
                            .removed_loss = INFINITY,
                            .trained_on_loss = std::nan("")};
  opened(experiment, directory_.path()).add(record);
  const Ledger again = opened(experiment, directory_.path());
  const std::vector<BrokenRun::Effect>& effects = again.find("base", 1)->broken->effects;
  EXPECT_EQ(effects[0].loss, 1.5);
  EXPECT_TRUE(std::isinf(effects[1].loss));
  EXPECT_TRUE(std::isnan(effects[1].sink));
  EXPECT_TRUE(std::isinf(again.find("base", 1)->broken->removed_loss));
  EXPECT_TRUE(std::isnan(again.find("base", 1)->broken->trained_on_loss));
  RunRecord without = record;
  without.figures.seed = 2;
  without.plan = run_plan(experiment, planned_variants(experiment)[0], 2);
  without.broken->effects[0].loss = std::nan("");
  EXPECT_BAD_INPUT(opened(experiment, directory_.path()).add(without),
                   "base, seed 2: broken.effects: expected an effect of every intervention that the model "
                   "takes, got an object");
}

TEST_F(Ledgers, lose_nothing_that_another_process_has_added_meanwhile) {
  const Experiment experiment = known_experiment();
  Ledger one = opened(experiment, directory_.path()), other = opened(experiment, directory_.path());
  one.add(known_run(experiment, 0, 1));
  RunRecord second = known_run(experiment, 0, 1);
  second.figures.machine = "another CPU";
  other.add(second);
  other.add(known_run(experiment, 1, 1));
  one.add(known_run(experiment, 0, 2));
  const Ledger all = opened(experiment, directory_.path());
  ASSERT_NE(all.find("base", 1), nullptr);
  EXPECT_EQ(all.find("base", 1)->figures.machine, "a CPU, avx2") << "the first record stays";
  EXPECT_NE(all.find("wide", 1), nullptr);
  EXPECT_NE(all.find("base", 2), nullptr);
}

TEST_F(Ledgers, hold_for_what_was_planned_and_for_nothing_else) {
  const Experiment experiment = known_experiment();
  opened(experiment, directory_.path()).add(known_run(experiment, 0, 1));
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
  opened(experiment, directory_.path()).add(known_run(experiment, 0, 1));
  experiment.question = "Or does it?";
  experiment.seeds = 5;
  experiment.looks = {{.pairs = 5, .error = 0.05}};
  EXPECT_EQ(refusal(experiment), "not refused");
}

// Files of somebody's own are named after what is in them, so two contents fit one plan.
TEST_F(Ledgers, refuse_runs_that_saw_another_text) {
  Experiment experiment = known_experiment();
  experiment.text = {.kind = ExperimentText::Kind::File, .file = "own.txt"};
  Ledger ledger = opened(experiment, directory_.path());
  RunRecord record = known_run(experiment, 0, 1);
  record.text = "own-0123456789ab";
  ledger.add(record);
  RunRecord other = known_run(experiment, 0, 2);
  other.text = "own-ba9876543210";
  const std::string refused = (directory_.path() / "asked.jsonl").string() +
                              ": its runs saw another text: expected own-0123456789ab, got "
                              "own-ba9876543210 (runs are compared on the same one)";
  EXPECT_BAD_INPUT(ledger.add(other), refused);
  EXPECT_BAD_INPUT(ledger.check_text("own-ba9876543210"), refused);
  other.text = "own-0123456789ab";
  ledger.add(other);
}

TEST_F(Ledgers, check_a_record_beside_what_another_process_has_added_meanwhile) {
  const Experiment experiment = known_experiment();
  Ledger one = opened(experiment, directory_.path()), other = opened(experiment, directory_.path());
  one.add(known_run(experiment, 0, 1));
  RunRecord longer = known_run(experiment, 1, 1);
  longer.tokens = 513;
  EXPECT_BAD_INPUT(other.add(longer), "wide, seed 1: tokens: expected 512, as of base, seed 1, got 513");
  EXPECT_EQ(opened(experiment, directory_.path()).find("wide", 1), nullptr) << "it can still be read";
}

TEST(RulesOfJudgement, are_what_is_looked_at_and_how) {
  Experiment experiment = known_experiment();
  experiment.breaking = BreakingPlan{.interventions = {{{.name = "open"}}}};
  const std::string rules = rules_of_judgement(experiment);
  const std::vector<std::function<void(Experiment&)>> changes = {
      [](Experiment& e) { e.looks = {{.pairs = 5, .error = 0.05}}; },
      [](Experiment& e) { e.equal_loss = 0.02; },
      [](Experiment& e) { e.solved = 0.5; },
      [](Experiment& e) { e.breaking->interventions[0].is_control = true; },
      [](Experiment& e) { e.breaking->interventions[0].against = 0; },
      [](Experiment& e) { e.seeds = 3; },  // the look at what breaking does
  };
  for (const auto& change : changes) {
    Experiment other = experiment;
    change(other);
    EXPECT_NE(rules_of_judgement(other), rules);
  }
  experiment.question = "Or does it?";
  EXPECT_EQ(rules_of_judgement(experiment), rules);
}

TEST_F(Ledgers, know_under_which_rules_a_run_ended) {
  Experiment experiment = known_experiment();
  RunRecord record = known_run(experiment, 0, 1);
  record.rules = rules_of_judgement(experiment);
  record.date = "2026-11-19";
  opened(experiment, directory_.path()).add(record);
  opened(experiment, directory_.path()).add(known_run(experiment, 1, 1));  // of an earlier version
  experiment.equal_loss = 0.02;
  const Ledger again = opened(experiment, directory_.path());
  EXPECT_EQ(again.find("base", 1)->date, "2026-11-19");
  ExperimentResult result{.experiment = experiment};
  for (const char* variant : {"base", "wide"}) add_record(result, *again.find(variant, 1));
  EXPECT_EQ(result.judged_anew, 1) << "of the other it is not known";
}

TEST_F(Ledgers, refuse_lines_that_say_something_else_than_their_plan) {
  const Experiment experiment = known_experiment();
  opened(experiment, directory_.path()).add(known_run(experiment, 0, 1));
  const std::filesystem::path file = directory_.path() / "asked.jsonl";
  const std::string text = read_text(file, 1 << 20);
  for (const auto& [from, to] :
       std::vector<std::pair<std::string, std::string>>{{"\"steps\":2,", "\"steps\":3,"},
                                                        {"backcopy-3-60", "backcopy-4-60"},
                                                        {"backcopy-3-60", "backcopy-3-60-letter"},
                                                        {"backcopy-3-60", "backcopy-3-600"}}) {
    std::string other = text;
    ASSERT_NE(other.find(from), std::string::npos) << text;
    other.replace(other.find(from), from.size(), to);
    std::ofstream(file) << other;
    EXPECT_NE(refusal(experiment).find("asked.jsonl: line 1: "), std::string::npos) << refusal(experiment);
    EXPECT_NE(refusal(experiment).find("without the line its run is measured or trained again"),
              std::string::npos)
        << refusal(experiment);
  }
}

TEST(ExperimentText, knows_its_tokens_by_name) {
  const ExperimentText own{.kind = ExperimentText::Kind::File, .file = "c/corpus.jsonl", .vocabulary = 1024};
  EXPECT_TRUE(own.makes("corpus-v1024-57718f22dc44"));
  EXPECT_FALSE(own.makes("corpus-v1024-pieces128-57718f22dc44")) << "cut otherwise";
  EXPECT_FALSE(own.makes("corpus-v1024"));
  const ExperimentText made{.kind = ExperimentText::Kind::Synth, .bytes = 4'000'000};
  EXPECT_TRUE(made.makes("synth-1-4000000"));
  EXPECT_FALSE(made.makes("synth-1-40000000"));
}

TEST_F(Ledgers, refuse_a_line_that_is_torn_off) {
  const Experiment experiment = known_experiment();
  opened(experiment, directory_.path()).add(known_run(experiment, 0, 1));
  std::ofstream(directory_.path() / "asked.jsonl", std::ios::app) << R"({"variant":"wide","seed":1,"div)";
  EXPECT_NE(refusal(experiment).find("asked.jsonl: line 2"), std::string::npos) << refusal(experiment);
}

TEST_F(Ledgers, refuse_a_run_that_lacks_what_the_experiment_asks_for) {
  const Experiment experiment = known_experiment();
  RunRecord record = known_run(experiment, 0, 1);
  record.course.clear();
  Ledger ledger = opened(experiment, directory_.path());
  EXPECT_BAD_INPUT(ledger.add(record), "base, seed 1: course: required key is missing");
  EXPECT_FALSE(std::filesystem::exists(directory_.path() / "asked.jsonl")) << "nothing is written";
}

}  // namespace
}  // namespace sluice
