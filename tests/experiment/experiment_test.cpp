#include "sluice/experiment/experiment.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sluice/base/error.h"
#include "sluice/experiment/experiment_runs.h"
#include "sluice/experiment/experiment_text.h"
#include "sluice/experiment/sweep.h"
#include "sluice/train/run_directory.h"
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

TEST_F(ExperimentFiles, may_leave_out_what_copied_text_begins_with) {
  nlohmann::ordered_json json = asked();
  json["text"]["start"] = "letter";
  EXPECT_EQ(read(json).text.start, BackcopyStart::Letter);
  EXPECT_EQ(read(json).text.stem(), "backcopy-3-60-letter") << "another text, another file";
  json["text"]["start"] = "none";
  EXPECT_NE(refusal(json).find("text.start"), std::string::npos) << refusal(json);
  json = asked();
  json.erase("solved");
  json["text"] = {{"kind", "synth"}, {"start", "letter"}};
  EXPECT_NE(refusal(json).find("text.start"), std::string::npos) << refusal(json);
}

nlohmann::ordered_json asked_at_two_sizes() {
  nlohmann::ordered_json json = asked();
  json.erase("vary");
  json["variants"] = {
      {{"name", "base"}},
      {{"name", "gated"}, {"set", {"model.gates=[{\"position\": \"g1\"}]"}}, {"equal_parameters", true}},
      {{"name", "larger"}, {"set", {"model.gates=[{\"position\": \"g1\"}]"}}}};
  json["condition"] = "parameters";
  json["conditions"] = {{{"name", "small"}, {"set", {"model.num_hidden_layers=1"}}}, {{"name", "large"}}};
  return json;
}

TEST_F(ExperimentFiles, compare_variants_under_each_condition) {
  const std::vector<PlannedVariant> planned = planned_variants(read(asked_at_two_sizes()));
  ASSERT_EQ(planned.size(), 6U);
  EXPECT_EQ(planned[1].point.name(), "gated,small");
  EXPECT_EQ(planned[2].reference, 0U);
  EXPECT_EQ(planned[3].reference, 3U);
  EXPECT_EQ(planned[5].reference, 3U);
  EXPECT_EQ(planned[1].at, static_cast<double>(planned[0].parameters)) << "no place of its own";
  EXPECT_EQ(planned[4].at, static_cast<double>(planned[3].parameters));
}

TEST_F(ExperimentFiles, give_conditions_places_or_let_them_have_parameters) {
  nlohmann::ordered_json json = asked_at_two_sizes();
  json["conditions"][1]["at"] = 2;
  EXPECT_NE(refusal(json).find("conditions: expected \"at\" in all of them or in none"), std::string::npos)
      << refusal(json);
  json["conditions"][0]["at"] = 1;
  EXPECT_EQ(planned_variants(read(json))[4].at, 2);
}

TEST_F(ExperimentFiles, give_named_conditions_no_place_on_a_line) {
  nlohmann::ordered_json json = asked_at_two_sizes();
  EXPECT_EQ(read(json).condition_axis, ConditionAxis::Values);
  json["condition_axis"] = "names";
  json["conditions"][1]["at"] = 2;
  EXPECT_NE(refusal(json).find("conditions[1].at"), std::string::npos) << refusal(json);
  json["conditions"][1].erase("at");
  EXPECT_EQ(read(json).condition_axis, ConditionAxis::Names);
}

TEST_F(ExperimentFiles, ask_for_a_slope_only_over_places_on_a_line) {
  nlohmann::ordered_json json = asked();
  json["slope"] = true;
  EXPECT_NE(refusal(json).find("two conditions or more"), std::string::npos) << refusal(json);
  json.erase("vary");
  json["variants"] = {{{"name", "base"}}, {{"name", "gated"}}};
  json["condition"] = "rate";
  json["conditions"] = {{{"name", "low"}, {"at", 0.001}}, {{"name", "high"}, {"at", 0.01}}};
  EXPECT_TRUE(read(json).slope);
  json["conditions"][0]["at"] = 0;
  EXPECT_NE(refusal(json).find("places above zero"), std::string::npos) << refusal(json);
  json["conditions"] = {{{"name", "low"}}, {{"name", "high"}}};
  json["condition_axis"] = "names";
  EXPECT_NE(refusal(json).find("asked.json: slope"), std::string::npos) << refusal(json);
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

TEST_F(ExperimentFiles, tell_things_apart_by_their_names) {
  nlohmann::ordered_json json = asked_at_two_sizes();
  json["variants"][1]["name"] = "base";
  EXPECT_NE(refusal(json).find("variants[1].name: expected a name that no other has"), std::string::npos)
      << refusal(json);
  json = asked_at_two_sizes();
  json["conditions"][1]["name"] = "small";
  EXPECT_NE(refusal(json).find("conditions[1].name: expected a name that no other has"), std::string::npos)
      << refusal(json);
}

TEST_F(ExperimentFiles, break_models_in_named_ways_and_beside_controls) {
  const nlohmann::ordered_json open = {{"name", "open"}, {"do", {"attn.gate set=1"}}, {"against", "twice"}},
                               twice = {{"name", "twice"}, {"do", {"attn.gated scale=2"}}, {"control", true}};
  nlohmann::ordered_json json = asked();
  json["breaking"] = {{"interventions", {open, twice}}};
  const Experiment experiment = read(json);
  EXPECT_EQ(experiment.breaking->interventions[0].against, 1U);
  EXPECT_TRUE(experiment.breaking->interventions[1].is_control);
  json["breaking"]["interventions"] = {open, open};
  EXPECT_NE(refusal(json).find("interventions[1].name"), std::string::npos) << refusal(json);
  json["breaking"]["interventions"] = {open};
  EXPECT_NE(refusal(json).find("interventions[0].against: expected the name of another"), std::string::npos)
      << refusal(json);
  json["breaking"]["interventions"] = {twice};
  json["breaking"]["interventions"][0]["do"] = nlohmann::ordered_json::array();
  EXPECT_NE(refusal(json).find("interventions[0].do"), std::string::npos) << refusal(json);
}

TEST_F(ExperimentFiles, refuse_what_would_have_no_effect) {
  const auto refused = [&](const std::string& key, const nlohmann::ordered_json& value, const char* where) {
    nlohmann::ordered_json json = asked();
    json[nlohmann::ordered_json::json_pointer(key)] = value;
    EXPECT_NE(refusal(json).find(where), std::string::npos) << refusal(json);
  };
  refused("/text/bytes", 100, "text.bytes");
  refused("/condition", "rate", "condition: expected none without conditions");
  refused("/condition_axis", "names", "condition_axis");
  refused("/set", {"seed=4"}, "set: expected no seed");
  refused("/text", {{"kind", "synth"}, {"documents", 3}}, "text.documents");
  refused("/text", {{"kind", "file"}, {"file", "a.txt"}, {"seed", 3}}, "text.seed");
  refused("/text", {{"kind", "synth"}, {"vocabulary", 10}}, "text.vocabulary: expected 0, for bytes");
  refused("/breaking", {{"interventions", nlohmann::ordered_json::array()}, {"rate", 1e-3}},
          "breaking.rate: expected none: without train_on nothing is trained");
  refused("/answer", {{"pairs", 0}, {"text", nlohmann::ordered_json::array()}}, "answer");
  refused("/runs", "nowhere", "runs: expected the name of another experiment");
  refused("/tuned_by", "nowhere", "tuned_by: expected the name of another experiment");
}

TEST_F(ExperimentFiles, refuse_texts_that_are_not_below_the_home) {
  for (const char* file : {"/etc/passwd", "../a.jsonl", "corpus/../../a.jsonl"}) {
    nlohmann::ordered_json json = asked();
    json["text"] = {{"kind", "file"}, {"file", file}};
    EXPECT_NE(refusal(json).find("text.file: expected a path below the home"), std::string::npos)
        << refusal(json);
  }
}

TEST_F(ExperimentFiles, refuse_names_that_a_plan_could_not_tell_apart) {
  nlohmann::ordered_json json = asked();
  json.erase("vary");
  json["variants"] = {{{"name", "a\tb"}}};
  EXPECT_NE(refusal(json).find("variants[0].name"), std::string::npos) << refusal(json);
  json = asked();
  json["set"] = {"steps=3\nsequence=9"};
  EXPECT_NE(refusal(json).find("set: expected changes without control characters"), std::string::npos)
      << refusal(json);
  for (const char* name : {"a=1", "a\nb"}) {
    json = asked();
    json["breaking"] = {{"interventions", {{{"name", name}, {"do", {"attn.gate set=1"}}}}}};
    EXPECT_NE(refusal(json).find("interventions[0].name"), std::string::npos) << refusal(json);
  }
}

TEST_F(ExperimentFiles, are_answered_at_planned_looks) {
  nlohmann::ordered_json json = asked();
  json["answer"] = {{"pairs", 2}, {"text", {"Yes."}}};
  EXPECT_EQ(read(json).answer.paragraphs, std::vector<std::string>{"Yes."});
  json["answer"]["pairs"] = 4;
  EXPECT_NE(refusal(json).find("answer.pairs: expected the pairs of a planned look"), std::string::npos)
      << refusal(json);
}

TEST_F(ExperimentFiles, cut_texts_into_pieces_under_a_name_of_their_own) {
  nlohmann::ordered_json json = asked();
  json["text"]["pieces"] = 128;
  EXPECT_NE(refusal(json).find("text.pieces"), std::string::npos) << "letters have their documents";
  const Threads threads(1);
  ExperimentText text{.kind = ExperimentText::Kind::File, .file = "own.txt"};
  directory_.file("own.txt", "abcdef");
  const ExperimentTokens whole = prepare_text(text, directory_.path(), threads);
  text.pieces = 5;
  const ExperimentTokens pieces = prepare_text(text, directory_.path(), threads);
  EXPECT_NE(pieces.tokens, whole.tokens);
  EXPECT_EQ(TokenShard(whole.tokens).info().documents, 1);
  EXPECT_EQ(TokenShard(pieces.tokens).info().documents, 2);
}

TEST_F(ExperimentFiles, take_runs_from_no_place_outside) {
  nlohmann::ordered_json json = asked();
  json["runs"] = "..";
  EXPECT_NE(refusal(json).find("asked.json: runs: expected a name of at most"), std::string::npos)
      << refusal(json);
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
  EXPECT_ERROR(run_experiment(engine, request), ErrorKind::BadInput,
               request.home.string() +
                   ": is no directory of runs, and no ledger is given (without --ended what is missing is "
                   "trained)");
  std::filesystem::create_directory(request.home);
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

TEST_F(ExperimentFiles, note_how_far_a_run_came_that_diverged) {
  nlohmann::ordered_json json = asked();
  json["set"] = {"steps=40",          "batch_tokens=256",          "validation.every=40",
                 "schedule.warmup=1", "model.num_hidden_layers=1", "validation.sequences=1",
                 "schedule.peak=10",  "optimizer.weight_decay=10", "validation.share=0.1"};
  json["seeds"] = 1;
  json["looks"] = nlohmann::ordered_json::array();
  json["vary"] = {"model=nursery-baseline"};
  Engine engine({.threads = 1});
  const std::filesystem::path home = directory_.path() / "home";
  const ExperimentResult result =
      run_experiment(engine, {.experiment = read(json), .home = home, .ledger = directory_.path()});
  ASSERT_EQ(result.runs.size(), 1U);
  EXPECT_TRUE(result.runs[0].diverged);
  EXPECT_GT(result.runs[0].seconds, 0);
  EXPECT_TRUE(std::isnan(result.runs[0].sink));
  std::filesystem::remove_all(home);
  const ExperimentResult known = run_experiment(
      engine,
      {.experiment = read(json), .home = home, .runs = RunSelection::Ended, .ledger = directory_.path()});
  EXPECT_EQ(to_json(known), to_json(result)) << "the ledger has all of it";
}

// Tiny runs of so many steps, saved after every so many, that are compared with nothing.
nlohmann::ordered_json saved_runs(int steps, int every) {
  nlohmann::ordered_json json = asked();
  json["set"] = {fmt::format("steps={}", steps),
                 fmt::format("validation.every={}", steps),
                 fmt::format("checkpoints.every={}", every),
                 "checkpoints.keep=5",
                 "batch_tokens=256",
                 "validation.sequences=1",
                 "validation.share=0.1",
                 "schedule.warmup=1",
                 "model.num_hidden_layers=1"};
  json["looks"] = nlohmann::ordered_json::array();
  json["seeds"] = 1;
  json.erase("solved");
  return json;
}

TEST_F(ExperimentFiles, measure_no_checkpoint_of_an_interruption) {
  nlohmann::ordered_json json = saved_runs(4, 2);
  json["vary"] = {"model=nursery-baseline"};
  const std::filesystem::path home = directory_.path() / "home";
  Engine engine({.threads = 1});
  const ExperimentResult result = run_experiment(engine, {.experiment = read(json), .home = home});
  const std::filesystem::path run = sweep_run_directory(home / "asked", result.variants[0].point, 1);
  std::filesystem::copy(RunDirectory::checkpoint_of(run, 2), RunDirectory::checkpoint_of(run, 3),
                        std::filesystem::copy_options::recursive);
  ASSERT_TRUE(RunDirectory::has_checkpoint(run, 3));
  std::vector<int64_t> steps;
  for (const CoursePoint& point : measure_course(engine, run)) steps.push_back(point.step);
  EXPECT_EQ(steps, (std::vector<int64_t>{2, 4}));
}

TEST_F(ExperimentFiles, measure_every_checkpoint_and_break_every_model) {
  nlohmann::ordered_json json = saved_runs(2, 1);
  json["equal_loss"] = 1;  // no head of an untrained model matters that much
  json["course"] = true;
  json["breaking"] = {{"interventions",
                       {{{"name", "open"}, {"do", {"attn.gate set=1"}}},
                        {{"name", "no attention"}, {"do", {"attn.gated set=0"}}},
                        {{"name", "absurd"}, {"do", {"logits scale=1e6"}}},
                        {{"name", "no number"}, {"do", {"logits scale=1e38"}}}}},
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
  EXPECT_TRUE(std::isinf(result.broken[0].effects[2].loss)) << "its perplexity is beyond all numbers";
  EXPECT_TRUE(std::isinf(result.broken[0].effects[3].loss)) << "its likelihood is no number at all";
  EXPECT_EQ(result.broken[0].heads, 2);
  EXPECT_EQ(result.broken[0].removed, 2);
  EXPECT_NE(result.broken[0].trained_on_loss, result.broken[0].removed_loss);
}

}  // namespace
}  // namespace sluice
