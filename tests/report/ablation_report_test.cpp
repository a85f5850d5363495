#include "sluice/report/ablation_report.h"

#include <gtest/gtest.h>

#include <map>

#include "sluice/report/ablation_figures.h"
#include "sluice/report/ablation_findings.h"
#include "sluice/report/html.h"
#include "sluice/report/markdown.h"

namespace sluice {
namespace {

RunEffect made_up_effect(double change, RunVerdict verdict) {
  RunEffect effect{.chunks = 10, .tokens = 100, .by_chunk = std::vector<double>(10, change)};
  effect.nll = {change, Interval{change - 0.01, change + 0.01}};
  effect.sequence = Interval{change - 0.02, change + 0.02};
  effect.ppl_ratio = {std::exp(change), Interval{std::exp(change - 0.01), std::exp(change + 0.01)}};
  effect.ppl = 10 * std::exp(change);
  effect.sink = {0.1, Interval{0.05, 0.15}};
  effect.verdict = verdict;
  return effect;
}

AblatedModel made_up_model(const std::string& name, bool gated) {
  const std::string action = gated ? "closed" : "zeroed";
  AblatedModel model{.name = name, .path = name, .layers = 4, .heads = 2, .gated = gated};
  AblatedText text{
      .name = "text", .chunks = 20, .chunk_length = 11, .base_by_chunk = std::vector<double>(10, 2.3)};
  text.base = {.tokens = 100, .nll = 2.3, .ppl = 9.97, .ci95 = {}};
  const auto add = [&](PlannedRun run, double change, RunVerdict verdict = RunVerdict::Worse) {
    model.plan.runs.push_back(std::move(run));
    text.effects.push_back(made_up_effect(change, verdict));
  };
  add({.name = "all open", .group = "global", .action = "open", .interventions = {"x"}}, 5);
  for (const char* value : {"0", "0.15", "1"})
    add({.name = std::string("constant ") + value,
         .group = "constants",
         .action = value,
         .interventions = {"x"}},
        value[0] == '1' ? 5 : 0.5);
  for (int64_t layer = 0; layer < 4; ++layer)
    add({.name = "layer " + std::to_string(layer) + " " + action,
         .group = "layers",
         .action = action,
         .layer = layer,
         .interventions = {"x"}},
        layer == 0 ? 3 : 0.005, layer == 0 ? RunVerdict::Worse : RunVerdict::Equivalent);
  for (int64_t head = 0; head < 2; ++head)
    add({.name = "layer 0 head " + std::to_string(head) + " closed",
         .group = "heads",
         .action = "closed",
         .layer = 0,
         .head = head,
         .interventions = {"x"}},
        head == 0 ? 0.3 : -0.1);
  add({.name = "layer 0 " + action + " / mlp.out",
       .group = "controls",
       .action = "zeroed",
       .layer = 0,
       .interventions = {"x"},
       .control_of = "layer 0 " + action},
      1);
  model.texts = {text};
  model.samples = {{"", "whole", 1}, {"all open", "<broken>", 2}};
  for (int64_t layer = 0; layer < 4; ++layer)
    model.gates.push_back(
        {.layer = layer, .mean = 0.2, .closed = layer == 0 ? 0.8 : 0.1 * static_cast<double>(layer)});
  return model;
}

// Runs whose interventions are the same would be one.
void give_own_interventions(AblatedModel& model) {
  for (PlannedRun& run : model.plan.runs) run.interventions = {run.name};
}

AblationResult made_up_ablation() {
  AblationResult result{.models = {made_up_model("gated", true), made_up_model("twin", false)}};
  for (AblatedModel& model : result.models) give_own_interventions(model);
  result.rule.comparisons = 22;
  return result;
}

std::vector<std::string> stems_of(const Report& report) {
  std::vector<std::string> stems;
  for (const ReportFigure* figure : figures_of(report)) stems.push_back(figure->stem);
  return stems;
}

TEST(AblationReport, has_the_figures_that_users_of_the_first_studies_know) {
  const Report report = ablation_report(made_up_ablation());
  const std::vector<std::string> stems = stems_of(report);
  for (const char* stem :
       {"gated_progressive_gate_sweep", "gated_layer_ablation_gates_closed", "gated_head_ablation_top_layers",
        "gated_controls_closed", "gated_sink_and_activation", "gated_sensitivity_closed",
        "twin_layer_ablation_attention_zeroed", "damage_shares"})
    EXPECT_NE(std::ranges::find(stems, stem), stems.end()) << stem;
}

TEST(AblationReport, says_in_words_what_the_figures_say) {
  const std::string page = markdown_of(ablation_report(made_up_ablation()));
  EXPECT_NE(page.find("1 worse, 0 better, 3 equivalent, 0 undecided"), std::string::npos);
  EXPECT_NE(page.find("Most damage: layer 0 (+3 nats)"), std::string::npos);
  EXPECT_NE(page.find("the best constant is 0"), std::string::npos);
  EXPECT_NE(page.find("holds for all 22 comparisons together"), std::string::npos);
  EXPECT_NE(
      page.find("22 comparisons together and at every time of stopping, but for an error of 0.05 in all"),
      std::string::npos);
  EXPECT_NE(
      page.find("Layers closed on text: more damage in 1 of 1, less in 0, equivalent in 0, undecided in "
                "0. More damage than, by kind: mlp.out: 1 of 1."),
      std::string::npos);
  EXPECT_NE(page.find("hold for all 22 comparisons together"), std::string::npos);
  EXPECT_NE(html_of(ablation_report(made_up_ablation())).find("&lt;broken&gt;"), std::string::npos);
}

// A run of the model's plan with what it did on every text.
void add_made_up_run(AblatedModel& model, PlannedRun run, double change) {
  run.interventions = {"x"};
  model.plan.runs.push_back(std::move(run));
  for (AblatedText& text : model.texts) text.effects.push_back(made_up_effect(change, RunVerdict::Worse));
}

std::map<std::string, double> bars_of_layer(const AblatedModel& model, const std::string& action,
                                            int64_t layer) {
  std::map<std::string, double> bars;
  for (const ControlledEffect& effect : controlled_effects(model, model.texts.front(), "layers", action))
    if (effect.layer == layer) bars[effect.what] = effect.nll.value;
  return bars;
}

TEST(AblationReport, shows_a_layer_beside_its_own_controls_and_not_those_of_its_heads) {
  AblatedModel model = made_up_model("gated", true);
  for (const char* run : {"layer 0 closed", "layer 0 head 0 closed", "layer 0 head 1 closed"})
    add_made_up_run(model,
                    {.name = std::string(run) + " / noise",
                     .group = "controls",
                     .action = "noise",
                     .layer = 0,
                     .control_of = run},
                    run == std::string("layer 0 closed") ? 0.7 : 0.1);
  const std::map<std::string, double> expected = {{"gate", 3}, {"mlp.out", 1}, {"noise", 0.7}};
  const std::map<std::string, double> bars = bars_of_layer(model, "closed", 0);
  ASSERT_EQ(bars.size(), expected.size());
  for (const auto& [what, nll] : expected) EXPECT_NEAR(bars.at(what), nll, 1e-12) << what;
}

TEST(AblationReport, shows_the_mean_of_draws_and_calls_them_draws) {
  AblationResult result = made_up_ablation();
  AblatedModel& model = result.models.front();
  for (int draw = 1; draw <= 3; ++draw) {
    const std::string name = "layer 2 shuffled " + std::to_string(draw);
    add_made_up_run(model, {.name = name, .group = "layers", .action = "shuffled", .layer = 2}, draw);
    add_made_up_run(model,
                    {.name = name + " / mlp.out",
                     .group = "controls",
                     .action = "shuffled",
                     .layer = 2,
                     .control_of = name},
                    10 * draw);
  }
  const std::map<std::string, double> bars = bars_of_layer(model, "shuffled", 2);
  EXPECT_NEAR(bars.at("gate"), 2, 1e-12);
  EXPECT_NEAR(bars.at("mlp.out"), 20, 1e-12);
  const std::string page = markdown_of(ablation_report(result));
  EXPECT_NE(page.find("Layers shuffled on text: of 3 draws, 3 of each, 3 worse"), std::string::npos);
  EXPECT_NE(page.find("(+2 nats), on the 10 chunks that all of them have"), std::string::npos);
}

TEST(AblationReport, covers_every_text_and_names_it) {
  AblationResult result = made_up_ablation();
  for (AblatedModel& model : result.models) {
    model.texts.push_back(model.texts.front());
    model.texts.back().name = "code";
    RunEffect& worst = model.texts.back().effects[5];  // layer 1 here, layer 0 on the first text
    worst = made_up_effect(4, RunVerdict::Worse);
  }
  const Report report = ablation_report(result);
  const std::string page = markdown_of(report);
  for (const char* words :
       {"what having it closed does on text: ", "what having it closed does on code: ",
        "Layers closed on text: more damage in 1 of 1", "Layers closed on code: more damage in 1 of 1",
        "gated (closed) on text: layer 0 carries", "gated (closed) on code: layer 1 carries"})
    EXPECT_NE(page.find(words), std::string::npos) << words;
  for (const char* stem : {"gated_controls_closed", "gated_sensitivity_closed", "damage_shares"}) {
    const std::vector<const ReportFigure*> figures = figures_of(report);
    const auto found = std::ranges::find(figures, stem, &ReportFigure::stem);
    ASSERT_NE(found, figures.end()) << stem;
    const std::string drawing = svg_of((*found)->figure);
    EXPECT_NE(drawing.find("on text"), std::string::npos) << stem;
    EXPECT_NE(drawing.find("on code"), std::string::npos) << stem;
  }
}

TEST(AblationReport, counts_the_chunks_that_the_runs_of_a_figure_have_seen) {
  AblatedModel model = made_up_model("gated", true);
  model.texts.front().effects[1].chunks = 8;
  EXPECT_EQ(counted(model, model.texts.front(), {1}), "gated: 8 of 20 chunks of 11 tokens of text.");
  EXPECT_EQ(counted(model, model.texts.front(), {1, 2}), "gated: 8 to 10 of 20 chunks of 11 tokens of text.");
}

TEST(AblationReport, holds_shares_of_a_joint_change_against_nothing_but_their_order_and_their_sum) {
  AblatedModel model = made_up_model("gated", true);
  for (PlannedRun& run : model.plan.runs) run.interventions = {"attn.gate set=0"};
  model.plan.runs.front().action = "closed";  // all gates at once: 5 nats
  GateEstimates& estimates = model.estimates.emplace(GateEstimates{.chunks = 8, .steps = 2, .passes = 3});
  for (const EstimateMethod method : {EstimateMethod::FirstOrder, EstimateMethod::Integrated}) {
    ActionEstimates& of = estimates.estimates.emplace_back(ActionEstimates{
        .tap = "attn.gate", .action = GateAction::Close, .method = method, .all = {.nll = 4.8}});
    for (int64_t layer = 0; layer < 4; ++layer) of.layers.push_back({.layer = layer, .whole = {.nll = 1.2}});
  }
  const std::vector<Paragraph> words = estimate_words(model);
  ASSERT_EQ(words.size(), 2u);
  EXPECT_NE(words[0].text.find("mean error"), std::string::npos) << words[0].text;
  EXPECT_EQ(words[1].text.find("mean error"), std::string::npos) << words[1].text;
  EXPECT_NE(
      words[1].text.find("shares of changing all gates together, +4.8 nats by estimate in 2 steps and +5 as "
                         "measured on the same chunks"),
      std::string::npos)
      << words[1].text;
  EXPECT_EQ(words[1].text.find("too few"), std::string::npos) << "4 % are within the bound";
  estimates.estimates[1].all.nll = 2.5;
  EXPECT_NE(estimate_words(model)[1].text.find(
                "The sum misses what was measured by 50 %: 2 steps are too few, --steps 8 or more may do."),
            std::string::npos);
}

TEST(AblationReport, puts_estimates_beside_what_was_measured_on_the_same_chunks) {
  AblatedModel model = made_up_model("gated", true);
  for (PlannedRun& run : model.plan.runs) run.interventions = {"attn.gate set=0"};
  model.plan.runs.front().action = "closed";
  std::vector<double>& by_chunk = model.texts.front().effects.front().by_chunk;
  by_chunk[8] = by_chunk[9] = 100;  // behind the eight that estimates look at
  GateEstimates& estimates = model.estimates.emplace(GateEstimates{.chunks = 8, .steps = 2, .passes = 3});
  ActionEstimates& of = estimates.estimates.emplace_back(
      ActionEstimates{.tap = "attn.gate", .action = GateAction::Close, .method = EstimateMethod::Integrated});
  for (int64_t layer = 0; layer < 4; ++layer) of.layers.push_back({.layer = layer});
  EXPECT_NEAR(compare_estimates(model).front().all_exact.value(), 5, 1e-9);
}

TEST(AblationReport, draws_controls_of_heads) {
  AblationResult result = made_up_ablation();
  for (const char* noise : {"noise", "noise in layer 2", "noise in head 0", "noise in head 1"}) {
    PlannedRun run{.name = std::string("layer 0 head 0 closed / ") + noise,
                   .group = "controls",
                   .action = "noise",
                   .layer = 0,
                   .control_of = "layer 0 head 0 closed"};
    if (run.name.back() == '0') run.head = 0;
    if (run.name.back() == '1') run.head = 1;
    add_made_up_run(result.models.front(), run, 0.1);
  }
  const Report report = ablation_report(result);
  const std::vector<const ReportFigure*> figures = figures_of(report);
  const auto found = std::ranges::find(figures, "gated_head_controls_closed", &ReportFigure::stem);
  ASSERT_NE(found, figures.end());
  const std::string drawing = svg_of((*found)->figure);
  for (const char* kind : {"noise in another layer", "noise in the head", "noise in another head"})
    EXPECT_NE(drawing.find(kind), std::string::npos) << kind;
}

// A model whose layers were only opened has nothing that an ungated one could stand beside.
TEST(AblationReport, compares_models_only_by_what_both_have) {
  AblationResult result = made_up_ablation();
  EXPECT_NE(
      markdown_of(ablation_report(result)).find("Layers are compared by what both kinds of models have"),
      std::string::npos);
  for (PlannedRun& run : result.models.front().plan.runs)
    if (run.group == "layers") run.action = "open";
  const Report report = ablation_report(result);
  const std::vector<std::string> stems = stems_of(report);
  EXPECT_EQ(std::ranges::find(stems, "damage_shares"), stems.end());
  EXPECT_NE(markdown_of(report).find("That was not run on gated, so nothing stands beside each other here"),
            std::string::npos);
}

TEST(AblationReport, says_how_much_was_saved_by_resting_and_by_equal_runs) {
  AblationResult result = made_up_ablation();
  result.models.resize(1);
  AblatedModel& model = result.models.front();
  EXPECT_NE(
      ablation_words(result).find("11 runs in all. 110 evaluations of a chunk where 220 would have been "
                                  "all of them (50.0 %): a run rests when"),
      std::string::npos)
      << ablation_words(result);
  model.plan.runs[1].interventions = model.plan.runs[0].interventions;
  EXPECT_NE(ablation_words(result).find("11 runs in all, 1 of them another one under a second name, not run "
                                        "again. 100 evaluations of a chunk where 200 would"),
            std::string::npos)
      << ablation_words(result);
  result.coverage = Coverage::Exhaustive;
  EXPECT_EQ(ablation_words(result).find("rests"), std::string::npos);
  EXPECT_NE(ablation_words(result).find("100 evaluations of a chunk: every run saw every chunk."),
            std::string::npos);
}

TEST(AblationReport, has_intervals_in_the_tables_of_places_and_shares) {
  const Report report = ablation_report(made_up_ablation());
  for (const char* name : {"gated_layers", "gated_heads", "damage_shares", "gated_sensitivity_closed"}) {
    const std::vector<const Table*> tables = tables_of(report);
    const auto found = std::ranges::find(tables, name, &Table::name);
    ASSERT_NE(found, tables.end()) << name;
    EXPECT_NE(csv_of(**found).find("_low,"), std::string::npos) << name;
  }
}

TEST(AblationReport, decides_about_the_sink_by_the_interval_for_all_comparisons) {
  AblationResult result = made_up_ablation();
  RunEffect& effect = result.models[0].texts[0].effects[0];
  effect.sink_sequence = Interval{-0.05, 0.25};  // its own interval lies beyond 0
  EXPECT_EQ(sink_findings(result.models[0], result).at(0).verdict, Verdict::Undecided);
  effect.sink_sequence = Interval{0.02, 0.2};
  const Finding finding = sink_findings(result.models[0], result).at(0);
  EXPECT_EQ(finding.verdict, Verdict::Higher);
  EXPECT_NE(finding.text.find("holds for all 22 comparisons together, at every time of stopping"),
            std::string::npos);
  EXPECT_NE(finding.text.find("The margin is 0.01 of this probability"), std::string::npos);
}

TEST(AblationReport, says_why_a_run_is_undecided_whose_own_interval_is_far_from_zero) {
  AblationResult result = made_up_ablation();
  RunEffect& effect = result.models[0].texts[0].effects[0];
  effect.verdict = RunVerdict::Undecided;
  effect.sequence = {};
  effect.reason = "fewer than 8 chunks say nothing";
  const Finding finding = run_finding(result.models[0], result.models[0].texts[0], 0, result);
  EXPECT_NE(finding.text.find("Undecided, for fewer than 8 chunks say nothing."), std::string::npos);
  const std::string page = markdown_of(ablation_report(result));
  EXPECT_NE(page.find("a run may be undecided whose own interval lies far from 0"), std::string::npos);
}

TEST(AblationReport, begins_with_what_is_doubtful_about_a_text) {
  AblationResult result = made_up_ablation();
  result.models[0].texts[0].warnings = {"text: 8 of the 8 chunks of the calibration text are in it, too"};
  result.models[1].texts[0].warnings = result.models[0].texts[0].warnings;
  const std::string page = markdown_of(ablation_report(result));
  const size_t first = page.find("Warning: text: 8 of the 8 chunks");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(page.find("Warning: text", first + 1), std::string::npos) << "once";
}

TEST(AblationReport, draws_estimates_although_nothing_was_run) {
  AblationResult result = made_up_ablation();
  result.models.resize(1);
  AblatedModel& model = result.models[0];
  model.plan = {};
  model.texts[0].effects.clear();
  model.samples.clear();
  GateEstimates& estimates = model.estimates.emplace(GateEstimates{.chunks = 8, .passes = 1});
  for (const GateAction action : {GateAction::Open, GateAction::Close}) {
    ActionEstimates& of =
        estimates.estimates.emplace_back(ActionEstimates{.tap = "attn.gate", .action = action});
    for (int64_t layer = 0; layer < 4; ++layer)
      of.layers.push_back({.layer = layer,
                           .whole = {.nll = 0.1},
                           .heads = {{.nll = 0.07}, {.nll = 0.03, .ci95 = Interval{0, 1}}}});
  }
  const Report report = ablation_report(result);
  EXPECT_EQ(stems_of(report), (std::vector<std::string>{"gated_estimated_heads", "gated_estimated_ranking"}));
  const std::string page = html_of(report);
  EXPECT_NE(page.find("8 chunks of 11 tokens of text"), std::string::npos);
}

TEST(AblationReport, says_what_a_model_that_writes_nothing_does) {
  AblationResult result = made_up_ablation();
  result.models[0].samples = {{"", "whole", 1}, {"all open", "", 0}, {"constant 0", "", 3}};
  const std::string page = markdown_of(ablation_report(result));
  EXPECT_NE(page.find("(nothing: it ends the text at once)"), std::string::npos);
  EXPECT_NE(page.find("(3 tokens that stand for no text)"), std::string::npos);
}

TEST(AblationReport, remarks_that_other_tokens_cannot_be_compared) {
  AblationResult result = made_up_ablation();
  const std::string words = "twin sees the texts as other tokens than gated";
  EXPECT_EQ(markdown_of(ablation_report(result)).find(words), std::string::npos);
  result.models[1].texts[0].checksum = 7;
  EXPECT_NE(markdown_of(ablation_report(result)).find(words), std::string::npos);
}

TEST(AblationReport, calls_what_is_not_finite_worse_and_says_why) {
  AblationResult result = made_up_ablation();
  result.models[0].texts[0].effects[0].finite = false;
  const Finding finding = run_finding(result.models[0], result.models[0].texts[0], 0, result);
  EXPECT_EQ(finding.verdict, Verdict::Higher);
  EXPECT_NE(finding.text.find("is not finite"), std::string::npos);
}

TEST(AblationReport, draws_every_figure) {
  for (const Report report = ablation_report(made_up_ablation());
       const ReportFigure* figure : figures_of(report))
    EXPECT_NE(svg_of(figure->figure).find("<svg"), std::string::npos) << figure->stem;
}

}  // namespace
}  // namespace sluice
