// What would be found out only after hours of training is found out before.
#include <gtest/gtest.h>

#include "sluice/base/error.h"
#include "sluice/experiment/experiment_plan.h"
#include "tests/base/expect_error.h"

namespace sluice {
namespace {

Experiment planned(std::vector<ExperimentVariant> variants) {
  return {.name = "asked", .run = "nursery-baseline", .variants = std::move(variants), .seeds = 1};
}

Experiment broken(const std::string& change) {
  Experiment experiment = planned({{{.name = "base"}}, {{"gated", {"model=nursery-headwise"}}}});
  experiment.breaking = BreakingPlan{.interventions = {{{.name = "it", .changes = {change}}}}};
  return experiment;
}

TEST(ExperimentPlans, are_of_runs_of_one_length) {
  EXPECT_BAD_INPUT(planned_variants(planned({{{.name = "base"}}, {{"long", {"steps=2000"}}}})),
                   "asked.json: long: steps: runs of an experiment are of the same length: expected 1500, "
                   "as of base, got 2000");
  EXPECT_BAD_INPUT(planned_variants(planned({{{.name = "base"}}, {{"wide", {"batch_tokens=4096"}}}})),
                   "asked.json: wide: batch_tokens: runs of an experiment are of the same length: expected "
                   "2048, as of base, got 4096");
}

TEST(ExperimentPlans, refuse_a_number_of_parameters_that_no_width_gives) {
  EXPECT_BAD_INPUT(
      planned_variants(planned({{{.name = "base"}}, {{"deep", {"model.num_hidden_layers=30"}}, true}})),
      "asked.json: variants: deep: equal_parameters: no width of its feed-forward part comes to the "
      "parameters of the first variant: expected 167552, got 1527488 (make it smaller elsewhere, or leave "
      "equal_parameters out)");
}

TEST(ExperimentPlans, take_what_a_gate_adds_from_the_feed_forward_part) {
  const std::vector<PlannedVariant> variants = planned_variants(
      planned({{{.name = "base"}}, {{"gated", {"model.gates=[{\"position\": \"g1\"}]"}}, true}}));
  // Each of three layers: 64 x 64 for the gate, 3 x 64 for a channel. 176 - 21.3 is nearest to 155.
  EXPECT_EQ(variants[1].point.changes.back(), "model.intermediate_size=155");
  EXPECT_EQ(variants[1].parameters, variants[0].parameters + 3 * (64 * 64 - 21 * 3 * 64));
}

TEST(ExperimentPlans, leave_a_model_alone_that_lacks_less_than_half_a_channel) {
  const std::vector<PlannedVariant> variants = planned_variants(
      planned({{{.name = "base"}},
               {{"gated", {"model.gates=[{\"position\": \"g1\", \"granularity\": \"headwise\"}]"}}, true}}));
  EXPECT_EQ(variants[1].point.changes.back(), "model.intermediate_size=175") << "2 x 64 of 3 x 64";
}

TEST(ExperimentPlans, let_documents_of_a_backcopy_text_be_sequences) {
  Experiment experiment = planned({{{"base", {"sequence=64"}}}});
  experiment.text.kind = ExperimentText::Kind::Backcopy;
  EXPECT_BAD_INPUT(planned_variants(experiment),
                   "asked.json: sequence: documents of a backcopy text are sequences: expected 128, got 64");
}

TEST(ExperimentPlans, name_the_variant_that_cannot_be_configured) {
  EXPECT_BAD_INPUT(planned_variants(planned({{{"base", {"steps"}}}})),
                   "asked.json: base: --set: expected a.b=value, got \"steps\"");
}

TEST(ExperimentPlans, cut_texts_into_pieces_of_a_sequence) {
  Experiment experiment = planned({{{.name = "base"}}});
  experiment.text = {.kind = ExperimentText::Kind::Synth, .pieces = 128};
  EXPECT_EQ(planned_variants(experiment).size(), 1U);
  experiment.text.pieces = 64;
  EXPECT_BAD_INPUT(
      planned_variants(experiment),
      "asked.json: text.pieces: pieces of a text are as long as sequences: expected 128, got 64");
}

TEST(ExperimentPlans, draw_slopes_through_places_that_differ) {
  Experiment experiment = planned({{{.name = "base"}}, {{.name = "gated"}}});
  experiment.slope = true;
  experiment.conditions = {{{"low", {"schedule.peak=1e-3"}}, 1}, {{"high", {"schedule.peak=2e-3"}}, 2}};
  EXPECT_EQ(planned_variants(experiment).size(), 4U);
  experiment.conditions[1].at.reset();
  experiment.conditions[0].at.reset();
  EXPECT_BAD_INPUT(planned_variants(experiment),
                   "asked.json: conditions: a slope goes through places that differ: expected 2, got 1");
}

TEST(ExperimentPlans, know_which_models_can_be_broken) {
  const std::vector<PlannedVariant> variants = planned_variants(broken("attn.gate set=1"));
  EXPECT_EQ(variants[0].can_be_given, std::vector<bool>{false});
  EXPECT_EQ(variants[1].can_be_given, std::vector<bool>{true});
  EXPECT_EQ(planned_variants(broken("attn.gated set=0"))[0].can_be_given, std::vector<bool>{true});
}

TEST(ExperimentPlans, refuse_interventions_that_no_model_takes) {
  for (const auto& [change, refusal] : std::vector<std::pair<std::string, std::string>>{
           {"layers.9.attn.gate set=1", "do[0]"},
           {"attn.gate set=1 positions=500-510", "no token of a sequence has such a position"},
           {"attn.gates set=1", "attn.gates"},
           {"attn.gate", "do[0]"}}) {
    SCOPED_TRACE(change);
    try {
      planned_variants(broken(change));
      FAIL() << "not refused";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::BadInput);
      EXPECT_EQ(std::string(error.what()).find("asked.json: breaking.interventions[0].do"), 0U)
          << error.what();
      EXPECT_NE(std::string(error.what()).find(refusal), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace sluice
