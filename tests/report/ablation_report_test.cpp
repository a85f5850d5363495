#include "sluice/report/ablation_report.h"

#include <gtest/gtest.h>

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
  model.samples = {{"", "whole"}, {"all open", "<broken>"}};
  for (int64_t layer = 0; layer < 4; ++layer)
    model.gates.push_back(
        {.layer = layer, .mean = 0.2, .closed = layer == 0 ? 0.8 : 0.1 * static_cast<double>(layer)});
  return model;
}

AblationResult made_up_ablation() {
  AblationResult result{.models = {made_up_model("gated", true), made_up_model("twin", false)}};
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
  EXPECT_NE(page.find("The damage, in nats per token, of \"layer 0 closed\" is higher than of its control"),
            std::string::npos);
  EXPECT_NE(html_of(ablation_report(made_up_ablation())).find("&lt;broken&gt;"), std::string::npos);
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
