// Plans: what generators make, what files may have, what is refused before anything runs.
#include "sluice/ablate/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "sluice/ablate/plan_cost.h"
#include "sluice/ablate/plan_request.h"
#include "sluice/ablate/run_waves.h"
#include "sluice/base/json_text.h"
#include "sluice/model/config_reader.h"
#include "sluice/model/count.h"
#include "tests/base/expect_error.h"
#include "tests/model/small_model.h"

namespace sluice {
namespace {

ModelConfig planned_model() {
  ModelConfig config = small_model(GateLayout::Separate, {{}});
  config.layers = 6;
  return config;
}

ModelConfig ungated_twin() {
  ModelConfig config = small_model();
  config.layers = 6;
  return config;
}

AblationPlan plan_with(const std::string& group, PlanRequest request = {},
                       const ModelConfig& config = planned_model()) {
  request.groups = {group};
  return make_plan(request, config);
}

std::vector<std::string> names_of(const AblationPlan& plan) {
  std::vector<std::string> names;
  for (const PlannedRun& run : plan.runs) names.push_back(run.name);
  return names;
}

std::string only_intervention(const AblationPlan& plan, const std::string& name) {
  const PlannedRun* run = plan.find(name);
  EXPECT_NE(run, nullptr) << name;
  if (run == nullptr) return {};
  EXPECT_EQ(run->interventions.size(), 1U) << name;
  return run->interventions.front();
}

TEST(Plans, set_all_gates_to_values_and_means) {
  const AblationPlan plan = plan_with("global");
  EXPECT_EQ(names_of(plan), (std::vector<std::string>{"all open", "all closed", "all mean", "all head-mean",
                                                      "all overall-mean", "all 0.116"}));
  EXPECT_EQ(only_intervention(plan, "all open"), "attn.gate set=1");
  EXPECT_EQ(only_intervention(plan, "all overall-mean"), "attn.gate overall-mean");
  EXPECT_EQ(only_intervention(plan, "all 0.116"), "attn.gate set=0.116");
}

TEST(Plans, sweep_the_ten_constants_of_the_first_studies) {
  const AblationPlan plan = plan_with("constants");
  EXPECT_EQ(plan.runs.size(), 10U);
  EXPECT_EQ(only_intervention(plan, "constant 0.15"), "attn.gate set=0.15");
  EXPECT_EQ(plan.find("constant 0.15")->action, "0.15");
}

TEST(Plans, break_each_layer_in_every_way_with_five_draws_of_a_shuffle) {
  const AblationPlan plan = plan_with("layers", {.seed = 3});
  EXPECT_EQ(plan.runs.size(), 6U * (4 + 5));
  EXPECT_EQ(only_intervention(plan, "layer 3 open"), "layers.3.attn.gate set=1");
  EXPECT_EQ(only_intervention(plan, "layer 3 inverted"), "layers.3.attn.gate invert");
  EXPECT_EQ(only_intervention(plan, "layer 3 shuffled 1"), "layers.3.attn.gate shuffle=3");
  EXPECT_EQ(only_intervention(plan, "layer 3 shuffled 5"), "layers.3.attn.gate shuffle=7");
  EXPECT_EQ(plan.find("layer 3 open")->layer, 3);
  EXPECT_EQ(plan.find("layer 3 open")->group, "layers");
  PlanRequest some{.layer_actions = {"open"}};
  some.layers = IndexSet::parse("1,4-5");
  EXPECT_EQ(names_of(plan_with("layers", some)),
            (std::vector<std::string>{"layer 1 open", "layer 4 open", "layer 5 open"}));
}

TEST(Plans, leave_out_layers_without_a_gate) {
  ModelConfig config = planned_model();
  config.gates.front().layers = {1, 3};
  EXPECT_EQ(names_of(plan_with("layers", {.layer_actions = {"open"}}, config)),
            (std::vector<std::string>{"layer 1 open", "layer 3 open"}));
}

TEST(Plans, break_each_head_of_chosen_layers) {
  PlanRequest request{.head_actions = {"closed", "open"}};
  request.head_layers = IndexSet::parse("0-2");
  const AblationPlan plan = plan_with("heads", request);
  EXPECT_EQ(plan.runs.size(), 2U * 3 * 4);
  EXPECT_EQ(only_intervention(plan, "layer 2 head 1 closed"), "layers.2.attn.gate set=0 heads=1");
  EXPECT_EQ(plan.find("layer 2 head 1 closed")->head, 1);
}

TEST(Plans, break_more_and_more_layers_and_heads) {
  PlanRequest request{.set_actions = {"open"}, .head_ranking = {{2, 3}, {0, 1}, {2, 0}}};
  const AblationPlan plan = plan_with("cumulative", request);
  EXPECT_EQ(plan.runs.size(), 6U + 3);
  EXPECT_EQ(only_intervention(plan, "layers 0-3 open"), "layers.0-3.attn.gate set=1");
  EXPECT_EQ(
      plan.find("first 3 heads closed")->interventions,
      (std::vector<std::string>{"layers.0.attn.gate set=0 heads=1", "layers.2.attn.gate set=0 heads=0,3"}));
}

TEST(Plans, break_by_position_and_by_depth) {
  const AblationPlan positions = plan_with("positions"), depth = plan_with("depth");
  EXPECT_EQ(only_intervention(positions, "first token closed"), "attn.gate set=0 positions=0");
  EXPECT_EQ(only_intervention(positions, "other tokens open"), "attn.gate set=1 positions=1-");
  EXPECT_EQ(only_intervention(depth, "middle third open"), "layers.2-3.attn.gate set=1");
  EXPECT_EQ(depth.runs.size(), 6U);
}

TEST(Plans, have_controls_of_the_same_shape_on_what_is_not_a_gate) {
  PlanRequest request{.layer_actions = {"closed", "open"}, .gate_means = {0.5, 0.5, 0.1, 0.5, 0.5, 0.5}};
  request.groups = {"layers", "controls"};
  const AblationPlan plan = make_plan(request, planned_model());
  EXPECT_EQ(plan.runs.size(), 12U + 6 * 2 + 6 * 5);
  EXPECT_EQ(only_intervention(plan, "layer 2 closed / mlp.out"), "layers.2.mlp.out scale=0");
  EXPECT_EQ(only_intervention(plan, "layer 2 open / attn.out"), "layers.2.attn.out scale=10");
  const auto random = std::ranges::find_if(
      plan.runs, [](const PlannedRun& run) { return run.name.starts_with("layer 2 open / random: "); });
  ASSERT_NE(random, plan.runs.end());
  EXPECT_NE(random->layer, 2);
  EXPECT_TRUE(random->interventions.front().ends_with(" scale=10"));
  EXPECT_EQ(random->control_of, "layer 2 open");
  request.gate_means.clear();
  EXPECT_EQ(make_plan(request, planned_model()).runs.size(), 12U + 6 * 2) << "open needs the mean gate";
}

// Without biases a part whose input is zero adds nothing, and so does attention whose gate is closed.
TEST(Plans, have_no_control_that_is_the_run_itself_or_another_control) {
  PlanRequest request{.layer_actions = {"closed"}};
  request.groups = {"layers", "controls"};
  const auto has = [&](const ModelConfig& config, const std::string& name) {
    return make_plan(request, config).find(name) != nullptr;
  };
  for (const char* point : {"attn.out", "attn.input", "mlp.input"}) {
    EXPECT_FALSE(has(planned_model(), std::string("layer 2 closed / ") + point)) << point;
    EXPECT_FALSE(has(ungated_twin(), std::string("layer 2 zeroed / ") + point)) << point;
  }
  EXPECT_TRUE(has(ungated_twin(), "layer 2 zeroed / mlp.out"));
  ModelConfig with_bias = planned_model();
  with_bias.qkv_bias = true;
  EXPECT_TRUE(has(with_bias, "layer 2 closed / attn.input"));
  ModelConfig on_queries = planned_model();
  on_queries.gates.front().position = GatePosition::G4;
  EXPECT_TRUE(has(on_queries, "layer 2 closed / attn.out"));
}

// What a part makes of another sequence's input is that sequence's output.
TEST(Plans, have_one_control_of_a_shuffle_for_each_part) {
  PlanRequest request{.layer_actions = {"shuffled"}, .draws = 1};
  request.groups = {"layers", "controls"};
  const AblationPlan gated = make_plan(request, planned_model()), twin = make_plan(request, ungated_twin());
  EXPECT_NE(gated.find("layer 2 shuffled 1 / attn.out"), nullptr);
  EXPECT_NE(gated.find("layer 2 shuffled 1 / mlp.out"), nullptr);
  EXPECT_EQ(gated.find("layer 2 shuffled 1 / attn.input"), nullptr);
  EXPECT_EQ(gated.find("layer 2 shuffled 1 / mlp.input"), nullptr);
  EXPECT_EQ(twin.find("layer 2 shuffled 1 / attn.input"), nullptr) << "is the run itself";
  EXPECT_NE(twin.find("layer 2 shuffled 1 / mlp.out"), nullptr);
}

// A random tensor that is another layer's closed gate would be no control.
TEST(Plans, draw_a_random_control_among_what_is_no_gate_in_any_layer) {
  for (const ModelConfig& config : {planned_model(), ungated_twin()}) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
      PlanRequest request{.layer_actions = {"closed"}, .seed = seed};
      request.groups = {"layers", "controls"};
      for (const PlannedRun& run : make_plan(request, config).runs) {
        if (run.name.find(" / random") == std::string::npos) continue;
        EXPECT_NE(run.interventions.front().find(".mlp.out "), std::string::npos) << run.name;
      }
    }
  }
}

TEST(Plans, say_what_they_leave_out_of_an_ungated_model) {
  const PlanRequest request{.groups = {"layers"}, .layer_actions = {"open", "closed", "inverted"}};
  EXPECT_EQ(actions_left_out(request, ungated_twin()), (std::vector<std::string>{"open", "inverted"}));
  EXPECT_TRUE(actions_left_out(request, planned_model()).empty());
  PlanRequest seeds{.groups = {"layers"}, .layer_actions = {"open"}, .ungated_layer_actions = {"closed"}};
  EXPECT_TRUE(actions_left_out(seeds, ungated_twin()).empty());
  EXPECT_NE(make_plan(seeds, ungated_twin()).find("layer 0 zeroed"), nullptr);
  EXPECT_NE(make_plan(seeds, planned_model()).find("layer 0 open"), nullptr);
  EXPECT_EQ(make_plan(seeds, planned_model()).find("layer 0 closed"), nullptr);
}

TEST(Plans, have_heads_of_no_more_layers_than_there_are) {
  PlanRequest request{.groups = {"layers"}, .layer_actions = {"open"}, .layers_with_heads = 3};
  request.layers = IndexSet::parse("0-1");
  EXPECT_EQ(make_plan(request, planned_model()).then.value().layers, 2);
}

TEST(Plans, refuse_controls_of_nothing) {
  EXPECT_ERROR(plan_with("controls"), ErrorKind::Usage,
               "plan: controls are of runs on layers or heads: add layers or heads");
}

TEST(Plans, refuse_an_order_of_heads_that_are_not_closed) {
  EXPECT_ERROR(plan_with("first-heads"), ErrorKind::Usage,
               "plan: first-heads orders heads by what closing each does, and none is closed (add heads)");
}

TEST(Plans, find_runs_that_are_equal_under_other_names) {
  PlanRequest request{.layer_actions = {"open"}};
  request.groups = {"global", "constants", "layers", "cumulative"};
  const AblationPlan plan = make_plan(request, planned_model());
  const std::vector<size_t> equal = equal_runs(plan);
  const auto first_of = [&](const std::string& name) {
    return plan.runs[equal[static_cast<size_t>(plan.find(name) - plan.runs.data())]].name;
  };
  EXPECT_EQ(first_of("all closed"), "all closed");
  EXPECT_EQ(first_of("constant 0"), "all closed");
  EXPECT_EQ(first_of("layers 0 open"), "layer 0 open");
  EXPECT_EQ(first_of("layers 0-5 open"), "all open");
  EXPECT_EQ(first_of("layers 0-4 open"), "layers 0-4 open");
  const PlanCost cost = plan_cost(plan, planned_model(), {.tokens = 20, .predicted = 20});
  EXPECT_EQ(cost.runs[static_cast<size_t>(plan.find("constant 0") - plan.runs.data())].shared, 0);
}

TEST(Plans, close_heads_together_in_the_order_of_a_ranking_when_it_is_known) {
  PlanRequest request{.layer_actions = {"open"}};
  request.groups = {"layers", "heads", "first-heads"};
  request.head_layers = IndexSet::parse("0-1");
  const AblationPlan plan = make_plan(request, planned_model());
  ASSERT_TRUE(plan.then);
  EXPECT_TRUE(plan.then->first_heads);
  EXPECT_EQ(read_plan(Json::parse(pretty_text(to_json(plan)), "plan.json"), planned_model()), plan);
  EXPECT_TRUE(heads_that_follow(plan, {}, planned_model()).empty());
  EXPECT_EQ(first_heads_to_come(plan, planned_model()), 4) << "1, 2, 4 and all 8";
  const std::vector<PlannedRun> runs = first_heads({{1, 3}, {0, 2}, {1, 0}}, planned_model());
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(runs[0].interventions, std::vector<std::string>{"layers.1.attn.gate set=0 heads=3"});
  EXPECT_EQ(runs[2].name, "first 3 heads closed");
  EXPECT_EQ(runs[2].group, "cumulative");
  request.head_actions = {"open"};
  EXPECT_ERROR(make_plan(request, planned_model()), ErrorKind::Usage,
               "plan: first-heads orders heads by what closing each does, and none is closed (add heads)");
}

TEST(Plans, ask_an_ungated_twin_the_same_of_its_attention_s_output) {
  const AblationPlan layers =
      plan_with("layers", {.layer_actions = {"open", "closed", "mean"}}, ungated_twin());
  EXPECT_EQ(layers.runs.size(), 12U) << "nothing there can be opened";
  EXPECT_EQ(only_intervention(layers, "layer 2 zeroed"), "layers.2.attn.out scale=0");
  EXPECT_EQ(only_intervention(plan_with("heads", {}, ungated_twin()), "layer 2 head 1 zeroed"),
            "layers.2.attn.gated scale=0 heads=1");
  EXPECT_EQ(only_intervention(plan_with("constants", {}, ungated_twin()), "constant 0.5"),
            "attn.out scale=0.5");
  EXPECT_ERROR(plan_with("layers", {.layer_actions = {"open"}}, ungated_twin()), ErrorKind::Usage,
               "plan: nothing to do: what was asked for has no run in this model");
}

TEST(Plans, with_all_groups_have_names_of_their_own) {
  PlanRequest request;
  request.groups.assign(std::begin(kPlanGroups), std::end(kPlanGroups));
  const std::vector<std::string> names = names_of(make_plan(request, planned_model()));
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
}

TEST(Plans, refuse_what_they_do_not_know) {
  EXPECT_ERROR(plan_with("layer"), ErrorKind::Usage,
               "plan: unknown group \"layer\" (did you mean \"layers\"?)");
  EXPECT_ERROR(plan_with("layers", {.layer_actions = {"opened"}}), ErrorKind::Usage,
               "plan: unknown action \"opened\": expected open, closed, mean, head-mean, layer-mean, "
               "overall-mean, raised, shuffled, inverted (did you mean \"open\"?)");
  PlanRequest beyond;
  beyond.layers = IndexSet::parse("6");
  EXPECT_ERROR(plan_with("layers", beyond), ErrorKind::Usage,
               "plan: the model does not have this layer: expected 0 to 5, got 6");
}

TEST(Plans, are_the_same_after_a_file) {
  PlanRequest request;
  request.groups = {"global", "layers", "heads", "controls"};
  const AblationPlan plan = make_plan(request, planned_model());
  EXPECT_EQ(read_plan(Json::parse(pretty_text(to_json(plan)), "plan.json"), planned_model()), plan);
}

TEST(Plans, say_in_a_file_which_heads_follow) {
  PlanRequest request{.groups = {"global", "layers"}, .layer_actions = {"open"}};
  request.layers_with_heads = 3;
  const AblationPlan plan = make_plan(request, planned_model());
  const AblationPlan read = read_plan(Json::parse(pretty_text(to_json(plan)), "plan.json"), planned_model());
  EXPECT_EQ(read, plan);
  ASSERT_TRUE(read.then);
  EXPECT_EQ(read.then->layers, 3);
  const std::vector<PlannedRun> heads = heads_that_follow(read, IndexSet::parse("1,4"), planned_model());
  ASSERT_EQ(std::ssize(heads), 2 * planned_model().heads);
  EXPECT_EQ(heads.front().name, "layer 1 head 0 closed");
  AblationPlan with_one = plan;
  with_one.runs.push_back(heads.front());
  EXPECT_EQ(heads_that_follow(with_one, IndexSet::parse("1,4"), planned_model()).size(), heads.size() - 1)
      << "what is there already is not run again";
  request.layers = IndexSet::parse("2");
  const AblationPlan of_one = make_plan(request, planned_model());
  EXPECT_EQ(std::ssize(heads_that_follow(of_one, {}, planned_model())), planned_model().heads)
      << "no other layer can matter most";
}

AblationPlan plan_from_text(const std::string& text) {
  return read_plan(Json::parse(text, "plan.json"), planned_model());
}

TEST(Plans, from_files_are_refused_with_run_and_field) {
  EXPECT_ERROR(
      plan_from_text(R"({"runs": [{"name": "a", "interventions": ["layers.9.attn.gate set=1"]}]})"),
      ErrorKind::BadInput,
      "plan.json: run \"a\": intervention \"layers.9.attn.gate set=1\": no such layer: expected 0 to 5, "
      "got 9");
  EXPECT_ERROR(
      plan_from_text(R"({"runs": [{"name": "a", "interventions": ["atn.gate set=1"]}]})"),
      ErrorKind::BadInput,
      "plan.json: run \"a\": intervention \"atn.gate set=1\": no tap fits \"atn.gate\" (did you mean "
      "\"attn.gate\"?)");
  EXPECT_ERROR(plan_from_text(R"({"runs": []})"), ErrorKind::BadInput, "plan.json: there are no runs in it");
  EXPECT_ERROR(plan_from_text(R"({"runs": [{"name": "a", "interventions": []}]})"), ErrorKind::BadInput,
               "plan.json: run \"a\": interventions: there are none");
  const std::string good = R"("interventions": ["attn.gate set=1"])";
  EXPECT_ERROR(plan_from_text(R"({"runs": [{"name": "a", )" + good + R"(}, {"name": "a", )" + good + "}]}"),
               ErrorKind::BadInput, "plan.json: run \"a\": name: is there twice");
  EXPECT_ERROR(plan_from_text(R"({"runs": [{"name": "a", "control_of": "b", )" + good + "}]}"),
               ErrorKind::BadInput,
               "plan.json: run \"a\": control_of: no other run has this name: got \"b\"");
  EXPECT_ERROR(plan_from_text(R"({"runs": [{"name": "a", "layer": 6, )" + good + "}]}"), ErrorKind::BadInput,
               "plan.json: run \"a\": layer: the model has no such layer: expected 0 to 5, got 6");
  EXPECT_ERROR(plan_from_text(R"({"runs": [{"name": "unbroken", )" + good + "}]}"), ErrorKind::BadInput,
               "plan.json: run \"unbroken\": name: is what the model itself is called");
  EXPECT_ERROR(plan_from_text(R"({"runs": [{"name": "a", "head": 1, )" + good + "}]}"), ErrorKind::BadInput,
               "plan.json: run \"a\": head: of which layer? give layer, too");
  EXPECT_ERROR(plan_from_text(R"({"runs": [{"name": "a\u001b[2J", )" + good + "}]}"), ErrorKind::BadInput,
               "plan.json: run \"a?[2J\": name: has a control character in it");
  EXPECT_ERROR(plan_from_text(R"({"runs": [{"name": "a", "group": "heads", "layer": 1, )" + good + "}]}"),
               ErrorKind::BadInput, "plan.json: run \"a\": head: is missing: heads are ranked by it");
  const auto then = [&](const std::string& group, const std::string& words) {
    return plan_from_text(R"({"runs": [{"name": "a", "group": ")" + group + R"(", "layer": 1, )" + good +
                          R"(}], "then": )" + words + "}");
  };
  EXPECT_ERROR(then("own", R"({"heads_of_top_layers": 3})"), ErrorKind::BadInput,
               "plan.json: then: no run of the group layers is about one layer, so none can matter most");
  EXPECT_ERROR(then("layers", R"({"heads_of_top_layers": 3, "actions": ["shuffled"]})"), ErrorKind::BadInput,
               "plan.json: then: actions: heads that follow cannot be shuffled");
  EXPECT_THROW(then("layers", R"({"heads_of_top_layers": 3, "actions": ["clsoed"]})"), Error);
  EXPECT_THROW(then("layers", R"({"heads_of_top_layers": 0})"), Error);
  EXPECT_ERROR(then("layers", R"({"first_heads": true})"), ErrorKind::BadInput,
               "plan.json: then: first_heads: no head is closed alone, so none can come first");
  EXPECT_THROW(then("layers", R"({"heads_of_top_layers": 3, "more": 1})"), Error);
  EXPECT_ERROR(
      then("layers", R"({"heads_of_top_layers": 99})"), ErrorKind::BadInput,
      "plan.json: then: heads_of_top_layers: the group layers is not about so many: expected 1 to 1, "
      "got 99");
  EXPECT_TRUE(then("layers", R"({"heads_of_top_layers": 1})").then);
  EXPECT_THROW(plan_from_text(R"({"runs": [{"name": "a", "interv)"), Error) << "cut in half";
  EXPECT_THROW(plan_from_text(R"({"runs": [{"name": "a", "extra": 1, )" + good + "}]}"), Error);
}

TEST(Plans, are_refused_if_no_chunk_has_a_position_that_they_mean) {
  const AblationPlan plan =
      plan_from_text(R"({"runs": [{"name": "a", "interventions": ["attn.gate set=1 positions=9-"]}]})");
  check_positions(plan, planned_model(), 11);
  EXPECT_THROW(check_positions(plan, planned_model(), 10), Error) << "the last token is never fed";
}

TEST(PlanCosts, count_from_where_a_run_begins) {
  const ModelConfig config = planned_model();
  AblationPlan plan;
  for (const char* text : {"embedding scale=2", "layers.0.attn.input scale=2", "layers.5.attn.gate set=1",
                           "layers.5.mlp.out scale=0", "logits scale=2", "attn.gate set=1"})
    plan.runs.push_back({.name = text, .interventions = {text}});
  const PlanCost cost = plan_cost(plan, config, {.tokens = 20, .predicted = 20});
  const double head = 2.0 * 50 * 32 * 20, feed_forward = 2.0 * 3 * 32 * 48 * 20,
               projection = 2.0 * 32 * 32 * 20;
  EXPECT_EQ(cost.runs[0].shared, cost.base.naive);
  EXPECT_EQ(cost.runs[1].shared, cost.base.naive);
  EXPECT_EQ(cost.runs[2].shared, head + feed_forward + projection);
  EXPECT_EQ(cost.runs[3].shared, head + feed_forward);
  EXPECT_EQ(cost.runs[4].shared, head);
  EXPECT_LT(cost.runs[5].shared, cost.base.naive) << "the first layer's attention is shared";
  EXPECT_EQ(cost.naive(), 7 * cost.base.naive);
  EXPECT_LT(cost.shared(), cost.naive());
  EXPECT_EQ(cost.repeated, 0);
  const PlanCost cramped = plan_cost(plan, config, {.tokens = 20, .predicted = 20, .runner = {.memory = 0}});
  EXPECT_GT(cramped.repeated, 0);
  EXPECT_LT(cramped.memory, cost.memory);
}

// The first studies' plan on the model that they broke: early layers and the output leave little to share.
TEST(PlanCosts, of_the_first_studies_are_bounded_by_the_arithmetic_that_is_left) {
  const ModelConfig config = load_model_config("1b-headwise");
  PlanRequest request{.global_actions = {"open", "closed"}, .layer_actions = {"open"}};
  request.groups = {"global", "constants", "layers", "heads"};
  request.head_layers = IndexSet::parse("0-2");
  const AblationPlan seeds = make_plan(request, config);
  EXPECT_EQ(seeds.runs.size(), 3U + 10 + 28 + 48);
  const PlanCost all = plan_cost(seeds, config);
  EXPECT_NEAR(all.shared() / all.naive(), 0.86, 0.03);
  request.groups = {"layers"};
  const PlanCost layers = plan_cost(make_plan(request, config), config);
  EXPECT_NEAR(layers.shared() / layers.naive(), 0.61, 0.02);
  const auto bf16_weights = 2.0 * static_cast<double>(count_parameters(config).total());
  EXPECT_LT(static_cast<double>(all.memory), 0.5 * bf16_weights) << "1.5 times the weights together";
}

TEST(RunWaves, go_by_layers_and_compute_little_of_the_unbroken_model_again) {
  const ModelConfig config = planned_model();
  const std::vector<RunEntry> entries = {
      {4, BlockEntry::Mixed}, {0, BlockEntry::Stream}, {2, BlockEntry::Mixed}, {6, BlockEntry::Stream}};
  const WaveLimits limits{.memory = wave_memory(2, config, {.memory = 0, .tokens = 20}), .tokens = 20};
  const std::vector<RunWave> waves = run_waves(entries, config, limits);
  ASSERT_EQ(waves.size(), 2U);
  EXPECT_EQ(waves[0].runs, (std::vector<size_t>{1, 2}));
  EXPECT_EQ(waves[0].base_layers.size(), 6);
  EXPECT_EQ(waves[1].runs, (std::vector<size_t>{0, 3}));
  EXPECT_EQ(waves[1].base_layers.begin, 4);
  EXPECT_EQ(waves[1].base_layers.end, 6);
  EXPECT_EQ(run_waves({}, config, limits).size(), 1U);
}

}  // namespace
}  // namespace sluice
