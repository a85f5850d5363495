// A whole ablation of the nursery's pair (tests/golden/nursery).
#include "sluice/ablate/ablation.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sstream>

#include "sluice/ablate/ablation_analysis.h"
#include "sluice/ablate/ablation_forecast.h"
#include "sluice/base/error.h"
#include "sluice/base/file.h"
#include "sluice/base/random.h"
#include "tests/ablate/nursery_ablation.h"
#include "tests/base/expect_error.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

class AblationTest : public NurseryAblation {};

TEST_F(AblationTest, tells_what_breaking_does_and_which_heads_follow) {
  const AblationResult result = run_ablation(engine_, request("a"));
  const AblatedModel& model = result.models.front();
  EXPECT_TRUE(model.gated);
  EXPECT_EQ(model.gates.size(), static_cast<size_t>(model.layers));
  // Two of all gates, each layer open, the heads of one layer closed.
  ASSERT_EQ(std::ssize(model.plan.runs), 2 + model.layers + model.heads);
  // Any layer's heads might have followed; and whether the sink comes back is asked of open gates.
  EXPECT_EQ(result.rule.comparisons, 2 + 1 + model.layers + model.layers * model.heads);
  EXPECT_EQ(model.plan.runs.back().group, "heads");
  EXPECT_EQ(model.plan.runs.back().layer, layers_by_effect(model, 1).front());
  const RunEffect& closed = model.texts.front().effects[1];
  EXPECT_EQ(closed.verdict, RunVerdict::Worse);
  EXPECT_GT(closed.nll.ci95->low, 0);
  EXPECT_GT(closed.kl, 0);
  EXPECT_GT(closed.changed_top1, 0);
  EXPECT_EQ(model.samples.front().run, "");
  EXPECT_GE(model.samples.size(), 4u);
}

TEST_F(AblationTest, cut_anywhere_and_resumed_gives_the_same_result) {
  AblationRequest whole = request("whole");
  const std::string expected = result_of(whole);
  const std::string log = read_text(whole.out / "ablation.log", 1 << 24);
  whole.out = directory_.path() / "cut";
  whole.start = LogStart::Resume;
  fs::create_directory(whole.out);
  for (uint64_t i = 0; i < 20; ++i) {
    const auto length = static_cast<size_t>(Random(1).below(i, log.size()));
    std::ofstream(whole.out / "ablation.log", std::ios::binary) << log.substr(0, length);
    ASSERT_EQ(result_of(whole), expected) << "cut at byte " << length;
  }
}

TEST_F(AblationTest, stopped_and_resumed_gives_the_same_result) {
  AblationRequest stopped = request("stopped");
  int asked = 0;
  const JobControl stops{.cancelled = [&] { return ++asked > 60; }};
  EXPECT_THROW(run_ablation(engine_, stopped, stops), Error);
  EXPECT_TRUE(fs::exists(stopped.out / "ablation.log"));
  stopped.start = LogStart::Resume;
  EXPECT_EQ(result_of(stopped), result_of(request("whole")));
}

TEST_F(AblationTest, does_not_go_on_with_another_seed_text_or_plan) {
  AblationRequest begun = request("a");
  begun.plan.layers_with_heads = 0;
  begun.plan.groups = {"global"};
  begun.sample_tokens = 0;
  (void)run_ablation(engine_, begun);
  begun.start = LogStart::Resume;
  const auto refused = [&](const AblationRequest& other, const std::string& what) {
    try {
      (void)run_ablation(engine_, other);
      ADD_FAILURE() << what;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(what + " differs"), std::string::npos) << error.what();
    }
  };
  AblationRequest other = begun;
  other.seed = 1;
  refused(other, "the seed of the order of chunks");
  other = begun;
  other.texts.front().source = nursery_tokens(1);
  refused(other, "text 1 of model 1");
  other = begun;
  other.plan.global_actions = {"open"};
  refused(other, "the plan of model 1");
  other = begun;
  other.models = {nursery_path("baseline")};
  refused(other, "model 1");
  other = begun;
  other.calibration = nursery_tokens(50);
  refused(other, "the calibration text");
}

// What is only shown at the end may be asked for anew: no evaluation depends on it.
TEST_F(AblationTest, goes_on_with_another_prompt_other_samples_and_estimates) {
  AblationRequest begun = request("a");
  begun.plan.layers_with_heads = 0;
  const std::string log = (begun.out / "ablation.log").string();
  (void)run_ablation(engine_, begun);
  const std::string before = read_text(log, 1 << 24);
  begun.start = LogStart::Resume;
  begun.prompt = "^abc";
  begun.sample_tokens = 3;
  begun.estimates = EstimateUse::Beside;
  begun.estimate_steps = 1;
  begun.memory = 1 << 20;
  const AblatedModel model = std::move(run_ablation(engine_, begun).models.front());
  EXPECT_EQ(model.prompt, "^abc");
  EXPECT_TRUE(model.estimates.has_value());
  EXPECT_EQ(read_text(log, 1 << 24), before) << "nothing was evaluated again";
  begun.rule.margin = 0.02;
  EXPECT_THROW(run_ablation(engine_, begun), Error) << "which decides when a run rests";
}

TEST_F(AblationTest, refuses_a_prompt_without_tokens_before_anything_runs) {
  AblationRequest empty = request("a");
  empty.prompt = "";
  EXPECT_ERROR(run_ablation(engine_, empty), ErrorKind::Usage,
               "--prompt: is empty (without it samples go on from the beginning of the text)");
  EXPECT_FALSE(fs::exists(empty.out));
}

// Gates of another sequence are as long as a chunk. A sample may be longer, and costs no result.
TEST_F(AblationTest, leaves_out_a_sample_that_is_longer_than_what_a_shuffle_has) {
  AblationRequest shuffled = request("a");
  shuffled.plan.groups = {"layers"};
  shuffled.plan.layer_actions = {"shuffled"};
  shuffled.plan.layers_with_heads = 0;
  shuffled.plan.draws = 1;
  shuffled.sample_tokens = 2 * kNurseryChunk;
  const AblatedModel model = std::move(run_ablation(engine_, shuffled).models.front());
  ASSERT_EQ(model.samples.size(), 1u);
  EXPECT_EQ(model.samples.front().run, "");
}

TEST_F(AblationTest, takes_no_model_twice_under_another_name) {
  AblationRequest twice = request("twice");
  const std::string path = nursery_path("headwise");
  twice.models = {path, path + "/../headwise"};
  EXPECT_ERROR(run_ablation(engine_, twice), ErrorKind::Usage,
               "MODEL: " + path + " and " + path + "/../headwise are the same");
}

TEST_F(AblationTest, says_that_a_copy_has_the_same_weights) {
  AblationRequest copied = request("copied");
  const fs::path copy = directory_.path() / "copy";
  fs::copy(nursery_path("headwise"), copy);
  copied.models.push_back(copy.string());
  copied.plan.groups = {"global"};
  copied.plan.layers_with_heads = 0;
  copied.sample_tokens = 0;
  std::ostringstream told;
  Log log(LogLevel::Normal, told);
  (void)run_ablation(engine_, copied, {.log = &log});
  EXPECT_NE(told.str().find("has the same weights as"), std::string::npos) << told.str();
}

TEST_F(AblationTest, counts_as_all_what_an_exhaustive_one_evaluates) {
  AblationRequest equal = request("equal");
  equal.plan.groups = {"global", "constants"};
  equal.plan.constants = {0, 1, 0.5};
  equal.plan.layers_with_heads = 0;
  equal.sample_tokens = 0;
  equal.coverage = Coverage::Exhaustive;
  const AblatedModel model = std::move(run_ablation(engine_, equal).models.front());
  EXPECT_EQ(equal_run_count(model), 2);
  EXPECT_EQ(evaluations_there(model, model.texts[0]), 3 * model.texts[0].chunks);
  EXPECT_EQ(evaluations_made(model, model.texts[0]), evaluations_there(model, model.texts[0]));
}

TEST_F(AblationTest, does_not_go_on_with_another_instruction_set) {
  if (engine_.isa().isa == Isa::Scalar) GTEST_SKIP() << "there is no other";
  AblationRequest begun = request("a");
  begun.plan.layers_with_heads = 0;
  begun.plan.groups = {"global"};
  (void)run_ablation(engine_, begun);
  begun.start = LogStart::Resume;
  Engine scalar({.isa = {.name = "scalar", .source = "test"}});
  EXPECT_BAD_INPUT(run_ablation(scalar, begun),
                   fmt::format("{}: was begun with something else: the instruction set differs: expected {}, "
                               "got scalar (the same command goes on; another one needs another --out)",
                               (begun.out / "ablation.log").string(), name_of(engine_.isa().isa)));
}

TEST_F(AblationTest, puts_a_gated_model_beside_its_ungated_twin) {
  AblationRequest twins = request("twins");
  twins.models = {nursery_path("headwise"), nursery_path("baseline")};
  twins.plan.groups = {"layers"};
  twins.plan.layer_actions = {"closed"};
  twins.plan.layers_with_heads = 0;
  const AblationResult result = run_ablation(engine_, twins);
  ASSERT_EQ(result.models.size(), 2u);
  EXPECT_FALSE(result.models[1].gated);
  EXPECT_EQ(actions_of(result.models[1].plan, "layers"), std::vector<std::string>{"zeroed"});
  double shares = 0;
  const AblatedModel& twin = result.models[1];
  for (const PlaceEffect& place : effect_profile(twin, twin.texts[0], "layers", "zeroed").places)
    shares += place.ppl_share;
  EXPECT_NEAR(shares, 1, 1e-9);
}

TEST_F(AblationTest, estimates_without_running_anything) {
  AblationRequest estimated = request("e");
  estimated.estimates = EstimateUse::Instead;
  const AblatedModel model = std::move(run_ablation(engine_, estimated).models.front());
  EXPECT_TRUE(model.plan.runs.empty());
  EXPECT_EQ(model.estimates.value().chunks, 8);
  EXPECT_NE(model.estimates->find("attn.gate", GateAction::Mean, EstimateMethod::FirstOrder), nullptr);
  estimated.models = {nursery_path("baseline")};
  estimated.out = directory_.path() / "none";
  EXPECT_THROW(run_ablation(engine_, estimated), Error);
}

TEST_F(AblationTest, puts_estimates_of_averaging_beside_averaged_layers) {
  AblationRequest averaged = request("mean");
  averaged.plan.groups = {"layers"};
  averaged.plan.layer_actions = {"mean"};
  averaged.plan.layers_with_heads = 0;
  averaged.sample_tokens = 0;
  averaged.estimates = EstimateUse::Beside;
  const AblatedModel model = std::move(run_ablation(engine_, averaged).models.front());
  const std::vector<EstimateComparison> comparisons = compare_estimates(model);
  ASSERT_EQ(comparisons.size(), 1u);
  EXPECT_EQ(comparisons.front().action, "mean");
  EXPECT_EQ(std::ssize(comparisons.front().exact), model.layers);
}

TEST_F(AblationTest, closes_heads_together_in_the_order_of_what_each_does) {
  AblationRequest ordered = request("ordered");
  ordered.plan.groups = {"layers", "first-heads"};
  ordered.sample_tokens = 0;
  const AblatedModel model = std::move(run_ablation(engine_, ordered).models.front());
  const std::vector<PlaceEffect> order = ranked(effect_profile(model, model.texts[0], "heads", "closed"));
  const PlannedRun* worst = model.plan.find("first 1 heads closed");
  ASSERT_NE(worst, nullptr);
  EXPECT_EQ(worst->interventions.front(),
            "layers." + std::to_string(order.front().layer) +
                ".attn.gate set=0 heads=" + std::to_string(order.front().head.value()));
  EXPECT_NE(model.plan.find("first " + std::to_string(order.size()) + " heads closed"), nullptr);
  EXPECT_EQ(model.texts[0].effects.size(), model.plan.runs.size());
}

TEST_F(AblationTest, measures_equal_runs_once_and_gives_both_the_result) {
  AblationRequest equal = request("equal");
  equal.plan.groups = {"global", "constants"};
  equal.plan.constants = {0};
  equal.plan.layers_with_heads = 0;
  equal.sample_tokens = 0;
  const AblationResult result = run_ablation(engine_, equal);
  const AblatedModel& model = result.models.front();
  EXPECT_EQ(result.rule.comparisons, 2 + 1) << "two runs, and the sink of the open one";
  const RunEffect &closed = model.texts[0].effects[1], &constant = model.texts[0].effects[2];
  EXPECT_EQ(closed.by_chunk, constant.by_chunk);
  EXPECT_EQ(evaluations_made(model, model.texts[0]), model.texts[0].effects[0].chunks + closed.chunks);
  EXPECT_NE(to_json(result).dump().find(R"("same_as":"all closed")"), std::string::npos);
}

TEST_F(AblationTest, is_forecast_without_a_trace) {
  AblationRequest asked = request("forecast");
  const AblationForecast forecast = forecast_ablation(engine_, asked);
  const ModelForecast& model = forecast.models.front();
  EXPECT_GT(model.to_come, 0);
  EXPECT_EQ(model.evaluations, (model.runs + model.to_come) * model.texts.front().chunks);
  EXPECT_LT(model.shared, model.naive);
  EXPECT_FALSE(fs::exists(asked.out));
}

TEST_F(AblationTest, names_the_model_and_the_text_that_is_too_short_for_it) {
  AblationRequest few = request("few");
  few.texts.push_back({.name = "short", .source = std::vector<TokenId>{1, 2, 3}});
  try {
    (void)run_ablation(engine_, few);
    FAIL();
  } catch (const Error& error) {
    const std::string line = error.what();
    EXPECT_NE(line.find("headwise"), std::string::npos) << line;
    EXPECT_NE(line.find("short"), std::string::npos) << line;
  }
  EXPECT_FALSE(fs::exists(few.out));
}

TEST_F(AblationTest, runs_from_a_printed_plan_what_it_would_have_run) {
  AblationRequest asked = request("asked");
  const AblationPlan plan = forecast_ablation(engine_, asked).models.front().plan;
  ASSERT_TRUE(plan.then);
  const fs::path file = directory_.path() / "plan.json";
  std::ofstream(file) << to_json(plan).dump();
  AblationRequest from_file = request("from_file");
  from_file.plan = {};
  from_file.plan_file = file;
  const AblationResult expected = run_ablation(engine_, asked), got = run_ablation(engine_, from_file);
  EXPECT_EQ(got.models.front().plan, expected.models.front().plan);
  EXPECT_EQ(to_json(got).dump(), to_json(expected).dump())
      << "heads of the layer that matters most among them";
}

TEST_F(AblationTest, warns_of_calibration_text_that_is_evaluated_too) {
  AblationRequest asked = request("a");
  asked.estimates = EstimateUse::Instead;
  EXPECT_TRUE(run_ablation(engine_, asked).models.front().texts.front().warnings.empty());
  asked.out = directory_.path() / "b";
  asked.calibration = nursery_tokens(0);
  const AblationResult same = run_ablation(engine_, asked);
  const std::vector<std::string>& warnings = same.models.front().texts.front().warnings;
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings.front().find("12 of the 16 chunks of the calibration text"), std::string::npos)
      << warnings.front();
  asked.out = directory_.path() / "c";
  asked.calibration = nursery_tokens(100);
  EXPECT_TRUE(run_ablation(engine_, asked).models.front().texts.front().warnings.empty());
}

TEST_F(AblationTest, takes_no_text_twice) {
  AblationRequest twice = request("twice");
  twice.texts.push_back({.name = "again", .source = nursery_tokens(0)});
  EXPECT_BAD_INPUT(run_ablation(engine_, twice),
                   "again: has the same tokens as chain (a text is given once)");
  EXPECT_FALSE(fs::exists(twice.out));
}

}  // namespace
}  // namespace sluice
