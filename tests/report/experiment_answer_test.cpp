// Words with computed numbers in them.
#include "sluice/report/experiment_answer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sluice/report/experiment_report.h"
#include "sluice/report/markdown.h"
#include "tests/base/expect_error.h"
#include "tests/base/temporary_directory.h"

namespace sluice {
namespace {

// A gated model and what it is compared with, three seeds each, whose gates were opened.
ExperimentResult answered() {
  ExperimentResult result{
      .experiment = {.name = "asked",
                     .question = "Does it?",
                     .answer = {.pairs = 3, .paragraphs = {"It does: {difference sink gated}."}},
                     .variants = {{{.name = "base"}}, {{.name = "gated"}}},
                     .seeds = 3,
                     .looks = {{.pairs = 3, .error = 0.05}},
                     .breaking = BreakingPlan{.interventions = {{{.name = "all open"}, false, 1},
                                                                {{.name = "times_four"}, true}}}},
      .variants = {{.point = {.changes = {}, .title = "base"},
                    .variant = "base",
                    .parameters = 9,
                    .can_be_given = {false, false}},
                   {.point = {.changes = {}, .title = "gated"},
                    .variant = "gated",
                    .parameters = 9,
                    .can_be_given = {true, true}}},
      .planned = 6,
      .sink_floor = 0.125};
  for (int seed = 1; seed <= 3; ++seed) {
    for (const std::string variant : {"base", "gated"})
      result.runs.push_back({.variant = variant,
                             .seed = seed,
                             .validation_loss = 2,
                             .sink = variant == "base" ? 0.6 : 0.2 + 0.01 * seed,
                             .max_activation = 5,
                             .spikes = variant == "base" ? 2.0 : 3.0 + seed});
    result.broken.push_back({.variant = "gated",
                             .seed = seed,
                             .effects = {{.loss = seed == 3 ? 9.0 : 0.5 * seed}, {.loss = 0.25}}});
  }
  return result;
}

TEST(ExperimentAnswers, compute_their_numbers) {
  const ExperimentResult result = answered();
  EXPECT_EQ(filled_in("{mean sink gated}, not {mean sink base}", result),
            "0.220 [0.195, 0.245], not 0.6000 [0.6000, 0.6000]");
  EXPECT_EQ(filled_in("by {difference sink gated}", result), "by -0.380 [-0.405, -0.355]");
  EXPECT_EQ(filled_in("{minus sink gated base}", result), "-0.380 [-0.405, -0.355]");
  EXPECT_EQ(filled_in("{minus sink base gated}", result), "+0.380 [+0.355, +0.405] (not planned)");
  EXPECT_EQ(filled_in("{minus spikes gated base}", result), "+3.0 [+0.5, +5.5] (not planned)");
  EXPECT_EQ(filled_in("{sinks base} of {seeds base}, {sinkless gated} gated have none; {uniform}", result),
            "3 of 3, 3 gated have none; 0.125");
  EXPECT_EQ(filled_in("{each sink gated}", result), "0.210, 0.220, 0.230");
  EXPECT_EQ(filled_in("{lowest all_open gated} to {highest all_open gated}, {median all_open gated}", result),
            "+0.500 to +9.000, +1.000");
  EXPECT_EQ(filled_in("{effect times_four gated}", result), "+0.250 [+0.250, +0.250]");
  EXPECT_EQ(filled_in("{against all_open gated}", result), "+3 [-9, +15]");
  EXPECT_EQ(filled_in("no number", result), "no number");
}

TEST(ExperimentAnswers, leave_nothing_out_that_is_beyond_all_numbers) {
  ExperimentResult result = answered();
  result.broken.back().effects[0].loss = INFINITY;
  EXPECT_EQ(filled_in("{effect all_open gated}, {highest all_open gated}", result),
            "beyond all numbers, beyond all numbers");
  EXPECT_EQ(filled_in("{lowest all_open gated}, {median all_open gated}", result), "+0.500, +1.000");
  EXPECT_EQ(filled_in("{against all_open gated}", result), "no number, with 1 model beyond all numbers");
  EXPECT_EQ(filled_in("{worse all_open gated}", result), "3 of 3");
}

TEST(ExperimentAnswers, refuse_what_the_experiment_does_not_have) {
  const ExperimentResult result = answered();
  for (const auto& [text, named] : std::vector<std::pair<std::string, std::string>>{
           {"{mean sink nobody}", "{mean sink nobody}"},
           {"{mean taste gated}", "{mean taste gated}"},
           {"{guess sink gated}", "{guess sink gated}"},
           {"{mean sink}", "{mean sink}"},
           {"{ }", "{}"},
           {"{mean sink gated", "{mean sink gated}"},
           {"{difference sink base}", "{difference sink base}"},
           {"{slope sink gated}", "{slope sink gated}"},
           {"{against times_four gated}", "{against times_four gated}"},
           {"{effect all_open base}", "{effect all_open base}"},
           {"{effect shut gated}", "{effect shut gated}"},
           {"{worst all_open gated}", "{worst all_open gated}"}})
    EXPECT_BAD_INPUT(filled_in(text, result), "asked.json: answer: " + named +
                                                  " is no number of this experiment "
                                                  "(docs/experiments.md lists what may stand there)");
}

std::string answered_page(const ExperimentResult& result) {
  return markdown_of(experiment_report(result));
}

TEST(ExperimentAnswers, stand_first_on_the_page_until_the_next_look) {
  ExperimentResult result = answered();
  const std::string text = answered_page(result);
  EXPECT_EQ(text.find("# Does it?\n\nIt does: -0.380 [-0.405, -0.355].\n"), 0U) << text;
  EXPECT_NE(text.find("Text written after the look at 3 pairs of seeds"), std::string::npos) << text;
  result.runs.pop_back();
  const std::string early = answered_page(result);
  EXPECT_EQ(early.find("It does"), std::string::npos) << early;
  EXPECT_NE(early.find("was written at 3 pairs of seeds. Not all comparisons have come to that look here."),
            std::string::npos)
      << early;
}

TEST(ExperimentAnswers, are_of_what_was_known_at_their_look) {
  ExperimentResult result = answered();
  result.experiment.seeds = 5;
  result.experiment.looks = {{.pairs = 3, .error = 0.02}, {.pairs = 5, .error = 0.03}};
  result.experiment.answer.paragraphs = {"{seeds base} seeds, {mean sink base}"};
  // Seeds of the next look, of which the second has only its baseline.
  for (const int seed : {4, 5}) result.runs.push_back({.variant = "base", .seed = seed, .sink = 0.1});
  result.runs.push_back({.variant = "gated", .seed = 4, .sink = 0.1});
  result.broken.push_back({.variant = "gated", .seed = 4, .effects = {{.loss = 99}, {.loss = 99}}});
  EXPECT_EQ(filled_in("{highest all_open gated}, {each sink base}", as_of_look(result, 3)),
            "+9.000, 0.600, 0.600, 0.600");
  EXPECT_EQ(as_of_look(result, 3).experiment.looks.size(), 1U);
  EXPECT_EQ(filled_in("{against all_open gated}", as_of_look(result, 3)), "+3.250")
      << "without an interval: effects are looked at with all five seeds";
  EXPECT_EQ(answered_page(result).find("# Does it?\n\n3 seeds, 0.6000 [0.6000, 0.6000]\n"), 0U)
      << answered_page(result);
  result.runs.push_back({.variant = "gated", .seed = 5, .sink = 0.1});
  EXPECT_NE(answered_page(result).find("is due anew: all have been looked at with 5"), std::string::npos);
}

TEST(ExperimentAnswers, are_checked_before_anything_is_trained) {
  const TemporaryDirectory directory;
  Experiment experiment{.name = "asked",
                        .answer = {.paragraphs = {"{mean sink base} and {difference sink gated}"}},
                        .text = {.kind = ExperimentText::Kind::Backcopy, .documents = 60},
                        .run = "nursery-baseline",
                        .variants = {{{.name = "base"}}, {{"gated", {"model=nursery-headwise"}}}},
                        .seeds = 2,
                        .looks = {{.pairs = 2, .error = 0.05}}};
  check_answer({.experiment = experiment, .variants = planned_variants(experiment)});
  experiment.answer.paragraphs.emplace_back("{mean sink gate}");
  Engine engine;
  EXPECT_BAD_INPUT(answer_experiment(
                       engine, {.experiment = {.experiment = experiment, .home = directory.path() / "home"}}),
                   "asked.json: answer: {mean sink gate} is no number of this experiment (did you mean "
                   "\"gated\"?)");
  EXPECT_FALSE(std::filesystem::exists(directory.path() / "home"));
}

TEST(ExperimentAnswers, wait_for_all_runs_where_no_look_is_planned) {
  ExperimentResult result = answered();
  result.experiment.looks.clear();
  result.experiment.answer = {.paragraphs = {"{sinkless gated} of them"}};
  EXPECT_EQ(answered_page(result).find("# Does it?\n\n3 of them\n"), 0U) << answered_page(result);
  result.runs.pop_back();
  EXPECT_NE(answered_page(result).find("The answer in words waits until all runs have ended: 5 of 6 have."),
            std::string::npos);
}

}  // namespace
}  // namespace sluice
