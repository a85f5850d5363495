// The page of an experiment: what stands first when there are more verdicts than anybody would read first.
#include "sluice/report/experiment_report.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sluice/report/experiment_answer.h"
#include "sluice/report/experiment_parts.h"
#include "sluice/report/markdown.h"
#include "tests/plot/recording_canvas.h"

namespace sluice {
namespace {

constexpr int kSeeds = 3;

// Baseline and gated under so many conditions. The gated model's sink is lower under the first alone.
ExperimentResult result_under(int conditions) {
  ExperimentResult result{.experiment = {.name = "settings",
                                         .file = "own/settings.json",
                                         .question = "Does it?",
                                         .variants = {{{.name = "base"}}, {{.name = "gated"}}},
                                         .condition = "layers x heads",
                                         .condition_axis = ConditionAxis::Names,
                                         .seeds = kSeeds,
                                         .looks = {{.pairs = kSeeds, .error = 0.05}}},
                          .planned = 2 * kSeeds * conditions};
  for (int i = 0; i < conditions; ++i) {
    const std::string condition = "c" + std::to_string(i);
    result.experiment.conditions.push_back({{.name = condition}});
    const size_t base = result.variants.size();
    for (const std::string variant : {"base", "gated"}) {
      const std::string name = variant + "," + condition;
      result.variants.push_back({.point = {.changes = {}, .title = name},
                                 .variant = variant,
                                 .condition = condition,
                                 .parameters = 100,
                                 .reference = base});
      for (int seed = 1; seed <= kSeeds; ++seed) {
        const double noise = 0.001 * seed, gain = variant == "gated" && i == 0 ? 0.5 + noise : 0;
        result.runs.push_back({.variant = name,
                               .seed = seed,
                               .validation_loss = 2 + noise,
                               .sink = 0.8 - gain,
                               .max_activation = (variant == "gated" ? noise * (seed - 2) : 0) + 5});
      }
    }
  }
  return result;
}

std::string page_of(const ExperimentResult& result) {
  return markdown_of(experiment_report(result, {}));
}

// What is written on the first figure.
std::string figure_text(const ExperimentResult& result) {
  RecordingCanvas canvas;
  const Figure figure = experiment_figure(result).figure;
  figure.draw(canvas);
  std::string text;
  for (const RecordingCanvas::Text& each : canvas.texts) text += each.text + " ";
  return text;
}

std::string page(int conditions) {
  return page_of(result_under(conditions));
}

TEST(ExperimentPages, begin_with_their_verdicts_if_these_are_few) {
  const std::string text = page(2);
  EXPECT_LT(text.find("Sink of gated,c0 is lower"), text.find("## Method")) << text;
}

TEST(ExperimentPages, say_of_how_many_seeds_a_sink_grew) {
  ExperimentResult result = result_under(1);
  result.sink_floor = 0.125;
  result.runs[0].sink = 0.375;  // three times as much, and no less, is one
  result.runs[1].sink = 0.374;
  EXPECT_TRUE(has_sink(result, result.runs[0]));
  EXPECT_FALSE(has_sink(result, result.runs[1]));
  result.runs[kSeeds].spikes = 5;
  const std::string text = page_of(result);
  EXPECT_NE(text.find("| base,c0 | 100 | 3 | 2 | 7.404"), std::string::npos) << text;
  EXPECT_NE(text.find("| gated,c0 | 100 | 3 | 0 | 7.404"), std::string::npos) << text;
  EXPECT_NE(text.find("at least 3 times"), std::string::npos) << text;
  EXPECT_NE(text.find("| gated,c0 | 3 | 0 | 0.00 [0.00, 0.71] | 5 |"), std::string::npos) << text;
}

TEST(ExperimentPages, name_how_sure_the_intervals_of_a_look_are) {
  ExperimentResult result = result_under(2);
  result.experiment.looks = {{.pairs = 2, .error = 0.01}, {.pairs = kSeeds, .error = 0.04}};
  EXPECT_NE(page_of(result).find("Minus base under the same condition, paired by seed, with 96 % intervals"),
            std::string::npos);
  result.runs.pop_back();  // a seed of the second condition's gated model has not ended
  const std::string text = page_of(result);
  EXPECT_NE(text.find("with 96 % and 99 % intervals"), std::string::npos) << text;
  EXPECT_NE(text.find("(99 % interval"), std::string::npos) << text;
  EXPECT_NE(text.find("To train all of it anew: sluice experiment own/settings.json --seeds 2 --home"),
            std::string::npos)
      << text;
  result.experiment.file = std::string(SLUICE_SOURCE_DIR) + "/experiments/settings.json";
  EXPECT_NE(page_of(result).find("To train all of it anew: scripts/reproduce.sh settings --seeds 2."),
            std::string::npos)
      << "of the repository's own";
}

TEST(ExperimentPages, say_of_how_many_runs_it_is_known_by_which_rules_they_were_to_be_judged) {
  ExperimentResult result = result_under(1);
  const std::string unknown = page_of(result);
  EXPECT_NE(unknown.find("The ledger shows for 0 of 6 runs that today's rules of judgement already held"),
            std::string::npos)
      << unknown;
  EXPECT_EQ(unknown.find("## Changed after runs had ended"), std::string::npos);
  result.judged_as_planned = std::ssize(result.runs);
  EXPECT_NE(page_of(result).find("was fixed before any had ended: the ledger says so of each"),
            std::string::npos);
  result.judged_as_planned = 4;
  result.judged_anew = 2;
  const std::string changed = page_of(result);
  EXPECT_NE(changed.find("for 4 of 6 runs that today's rules of judgement already held when they ended, and "
                         "for 2 that they did not"),
            std::string::npos)
      << changed;
  EXPECT_NE(changed.find("## Changed after runs had ended\n\nWhen 2 runs had ended, how they are judged was"),
            std::string::npos)
      << changed;
}

TEST(ExperimentPages, begin_with_what_was_best_if_they_are_there_to_choose) {
  ExperimentResult result = result_under(3);
  result.experiment.looks.clear();
  for (MeasuredTraining& run : result.runs)
    if (run.variant == "gated,c1") run.validation_loss = 1.5;
  const std::string text = page_of(result), first = text.substr(0, text.find("## Method"));
  EXPECT_NE(
      first.find("gated: of 3 conditions the lowest validation loss is 1.5000, under c1; the next is 2.0020"),
      std::string::npos)
      << first;
  EXPECT_EQ(page(3).find("of 3 conditions the lowest"), std::string::npos)
      << "a comparison says no such thing";
}

TEST(ExperimentPages, leave_out_a_mean_of_what_some_runs_lack) {
  ExperimentResult result = result_under(1);
  const PlannedVariant& base = result.variants[0];
  for (MeasuredTraining& run : result.runs) run.head_sink = 0.9;
  EXPECT_TRUE(figure_over_seeds(result, base, &MeasuredTraining::head_sink));
  result.runs[1].head_sink = std::nan("");
  EXPECT_FALSE(figure_over_seeds(result, base, &MeasuredTraining::head_sink));
}

TEST(ExperimentPages, begin_with_a_count_of_many_verdicts_that_gives_what_is_decided) {
  const std::string text = page(5);
  const std::string first = text.substr(0, text.find("## Method"));
  EXPECT_NE(first.find("sink, 5 comparisons, 95 % intervals: lower for 1 (gated,c0: -0.5020 [-0.5045, "
                       "-0.4995]); undecided for 4."),
            std::string::npos)
      << first;
  EXPECT_NE(first.find("validation loss, 5 comparisons, 95 % intervals: equivalent for 5"), std::string::npos)
      << first;
  EXPECT_EQ(text.find("Sink of gated,c0 is lower"), std::string::npos) << "the table below has the others";
}

TEST(ExperimentPages, wait_for_their_first_look_in_one_line) {
  ExperimentResult result = result_under(5);
  result.experiment.looks = {{.pairs = 8, .error = 0.05}};
  result.runs.pop_back();
  const std::string text = page_of(result), first = text.substr(0, text.find("## Method"));
  EXPECT_NE(
      first.find("15 comparisons wait for their first planned look, at 8 pairs of seeds; between 2 and 3 "
                 "have ended"),
      std::string::npos)
      << first;
  EXPECT_EQ(first.find("5 comparisons, "), std::string::npos) << "nothing is decided yet: " << first;
}

// Loss of the gated model minus the other's: a line over the logarithm of the place, another for each seed.
ExperimentResult result_with_slopes() {
  ExperimentResult result = result_under(3);
  result.experiment.condition = "parameters";
  result.experiment.condition_axis = ConditionAxis::Values;
  result.experiment.slope = true;
  for (size_t v = 0; v < result.variants.size(); ++v) {
    PlannedVariant& variant = result.variants[v];
    variant.at = std::pow(10, 1 + static_cast<double>(v / 2));
    if (variant.variant != "gated") continue;
    for (MeasuredTraining& run : result.runs)
      if (run.variant == variant.point.name())
        run.validation_loss += 0.3 - (0.1 + 0.01 * run.seed) * static_cast<double>(v / 2);
  }
  return result;
}

TEST(ExperimentPages, say_how_differences_change_over_the_conditions) {
  ExperimentResult result = result_with_slopes();
  const DifferenceAtLook slope = planned_slope(result, "gated", &MeasuredTraining::validation_loss);
  ASSERT_TRUE(slope.difference);
  EXPECT_EQ(slope.difference->count, kSeeds);
  EXPECT_NEAR(slope.difference->mean, -0.12, 1e-12) << "of -0.11, -0.12 and -0.13";
  const std::string text = page_of(result);
  EXPECT_NE(
      text.find("Change of validation loss per tenfold parameters of gated is lower than of base by 0.120"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("| gated | 3 | -0.120 [-0.145, -0.095] |"), std::string::npos) << text;
  EXPECT_EQ(filled_in("{slope validation_loss gated}", result), "-0.120 [-0.145, -0.095]");

  result.runs.erase(result.runs.begin());  // a seed has no pair under the first condition any more
  EXPECT_EQ(planned_slope(result, "gated", &MeasuredTraining::validation_loss).ended_pairs, kSeeds - 1);
  EXPECT_NE(page_of(result).find("comparisons wait for their first planned look"), std::string::npos);
}

// The gates of the gated model were opened; its control was done to both.
ExperimentResult broken_result() {
  ExperimentResult result = result_under(1);
  result.experiment.breaking =
      BreakingPlan{.interventions = {{{.name = "all open"}, false, 1}, {{.name = "no values"}, true}}};
  result.variants[0].can_be_given = {false, true};
  result.variants[1].can_be_given = {true, true};
  for (int seed = 1; seed <= kSeeds; ++seed) {
    const double opened = 0.1 * seed;
    result.broken.push_back({.variant = result.variants[0].point.name(),
                             .seed = seed,
                             .effects = {{std::nan(""), std::nan("")}, {.loss = 2, .sink = 0.5}}});
    result.broken.push_back({.variant = result.variants[1].point.name(),
                             .seed = seed,
                             .effects = {{.loss = opened, .sink = opened}, {.loss = 3, .sink = 0.25}}});
  }
  return result;
}

TEST(ExperimentPages, judge_what_breaking_does_when_all_planned_seeds_have_ended) {
  ExperimentResult result = broken_result();
  const std::string text = page_of(result), first = text.substr(0, text.find("## Method"));
  EXPECT_NE(first.find("loss of gated,c0, all open is higher or lower than of the same models as they are is "
                       "undecided: the difference is +0.20 (95 % interval -0.05 to +0.45, n = 3 models)"),
            std::string::npos)
      << first;
  EXPECT_NE(first.find("Loss of gated,c0, all open is lower than of the same models, no values by 2.80"),
            std::string::npos)
      << first;
  EXPECT_EQ(first.find("gated,c0, no values"), std::string::npos) << "a control: " << first;
  result.experiment.seeds = kSeeds + 1;
  const std::string early = page_of(result);
  EXPECT_EQ(early.find("of gated,c0, all open"), std::string::npos) << early;
  EXPECT_NE(early.find("2 effects of interventions before the runs of all 4 planned seeds have ended"),
            std::string::npos)
      << early;
}

TEST(ExperimentPages, make_no_mean_of_models_of_which_one_is_beyond_all_numbers) {
  ExperimentResult result = broken_result();
  for (BrokenRun& run : result.broken)
    if (run.variant == "gated,c0" && run.seed == 3) run.effects[0] = {INFINITY, std::nan("")};
  const std::string text = page_of(result);
  EXPECT_NE(
      text.find("Loss of gated,c0, all open, beside the same models as they are: beyond all numbers in 1 "
                "model, so there is no mean."),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("| all open | gated,c0 | 3 | 3 | – | – |"), std::string::npos)
      << "what is worst is not left out: " << text;
  EXPECT_NE(text.find("| no values | gated,c0 | 3 | 3 | +3.000"), std::string::npos) << text;
  for (BrokenRun& run : result.broken)
    if (run.variant == "gated,c0" && run.seed == 3) run.effects[1] = {INFINITY, std::nan("")};
  EXPECT_NE(page_of(result).find("beside the same models, no values: beyond all numbers in 1 model,"),
            std::string::npos)
      << "a model counts once, though both effects are infinite";
  result.broken[1].removed_loss = INFINITY;
  EXPECT_NE(page_of(result).find("| gated,c0 | 3 | 0 | – | – | 0 [0, 0] |"), std::string::npos)
      << page_of(result);
}

TEST(ExperimentPages, keep_what_every_intervention_did_in_a_file) {
  const Report report = experiment_report(broken_result());
  for (const Section& section : report.sections)
    for (const ReportBlock& block : section.blocks)
      if (const auto* table = std::get_if<Table>(&block); table && table->name == "settings-effects") {
        EXPECT_EQ(table->rows.size(), 4U * kSeeds);
        EXPECT_EQ(table->view, TableView::FileOnly);
        return;
      }
  FAIL() << "no such table";
}

TEST(ExperimentPages, say_if_no_pair_of_a_look_counts) {
  ExperimentResult result = result_under(1);
  for (MeasuredTraining& run : result.runs)
    if (run.variant == "base,c0") run.diverged = true;
  const std::string text = page_of(result);
  EXPECT_NE(text.find("validation loss of gated,c0: of 3 pairs of seeds none counts."), std::string::npos)
      << text;
  EXPECT_EQ(text.find("wait for their first planned look"), std::string::npos) << text;
}

TEST(ExperimentPages, say_if_no_run_counts) {
  ExperimentResult result = result_under(1);
  for (MeasuredTraining& run : result.runs)
    run = {.variant = run.variant, .seed = run.seed, .diverged = true, .seconds = 1};
  const std::string text = page_of(result);
  EXPECT_NE(text.find("None of 6 runs that have ended counts: 6 diverged."), std::string::npos) << text;
  EXPECT_EQ(page(1).find("None of"), std::string::npos);
}

TEST(ExperimentPages, let_intervals_of_shares_go_no_further_than_shares) {
  ExperimentResult result = result_under(1);
  for (MeasuredTraining& run : result.runs) run.sink = run.seed == 1 ? 0.99 : 0.5;
  const std::string text = page_of(result);
  EXPECT_NE(text.find("0.66 [0.00, 1.00]"), std::string::npos) << text;
  EXPECT_EQ(filled_in("{mean sink base,c0}", result), "0.66 [0.00, 1.00]");
}

TEST(ExperimentPages, leave_means_of_gates_as_they_are) {
  ExperimentResult result = result_under(1);
  for (MeasuredTraining& run : result.runs)
    if (run.variant == "gated,c0") run.gate_mean = -0.1 - 0.01 * run.seed;  // of a SiLU
  EXPECT_NE(page_of(result).find("-0.120 [-0.145, -0.095]"), std::string::npos) << page_of(result);
}

TEST(ExperimentPages, say_that_a_mean_of_few_has_no_interval) {
  ExperimentResult result = result_under(1);
  EXPECT_EQ(figure_text(result).find("if they are 3 or more"), std::string::npos);
  result.runs[0].diverged = true;  // two are left
  EXPECT_NE(figure_text(result).find("with 95 % intervals, if they are 3 or more"), std::string::npos)
      << figure_text(result);
}

TEST(ExperimentPages, choose_only_what_all_seeds_have_borne) {
  ExperimentResult result = result_under(3);
  result.experiment.looks.clear();
  for (MeasuredTraining& run : result.runs)
    if (run.variant == "gated,c1") run.validation_loss = run.seed == 1 ? 1.9 : 1.5;
  result.runs.back().diverged = true;
  for (MeasuredTraining& run : result.runs)
    if (run.variant == "gated,c2") run.validation_loss = 1.4;
  const std::string text = page_of(result);
  EXPECT_NE(text.find("gated: of 2 conditions under which all runs count, of 3, the lowest validation loss "
                      "is 1.6333, under c1"),
            std::string::npos)
      << "one of the runs under c2 diverged: " << text;
}

TEST(ExperimentPages, draw_no_interval_before_the_first_look) {
  ExperimentResult result = result_under(1);
  EXPECT_NE(page_of(result).find("paired by seed, with 95 % intervals"), std::string::npos);
  result.experiment.looks = {{.pairs = 8, .error = 0.05}};
  const std::string text = page_of(result);
  EXPECT_NE(text.find("paired by seed, no interval before the first look, at 8 pairs of seeds"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("-0.5020 ["), std::string::npos) << text;
  EXPECT_NE(text.find("-0.5020"), std::string::npos) << "the number is there without it";
}

TEST(SinkAxis, shows_what_counts_as_a_sink_if_any_is_near) {
  const ChartAxis near = sink_axis(0.1, 0.2), far = sink_axis(0.1, 0.05);
  ASSERT_EQ(near.levels.size(), 2U);
  EXPECT_EQ(near.levels[0].value, 0.1) << "what uniform attention would give";
  EXPECT_DOUBLE_EQ(near.levels[1].value, 0.3);
  EXPECT_EQ(far.levels.size(), 1U);
  EXPECT_EQ(near.at_least.low, 0) << "shares are seen from zero";
  EXPECT_NE(sink_caption(0.1, 0.2).find("3 times as much counts as a sink (dashed line)"), std::string::npos);
  EXPECT_NE(sink_caption(0.1, 0.05).find("(far above all of these)"), std::string::npos);
  EXPECT_TRUE(sink_axis(0, 0.2).levels.empty()) << "not known";
}

TEST(DrawnInterval, is_none_of_two_seeds) {
  EXPECT_TRUE(std::isnan(drawn_interval(mean_interval(std::vector<double>{1, 2})).low));
  EXPECT_TRUE(std::isnan(drawn_interval({}).high));
  EXPECT_NEAR(drawn_interval(mean_interval(std::vector<double>{1, 2, 3})).low, 2 - 2.4843, 1e-3);
}

}  // namespace
}  // namespace sluice
