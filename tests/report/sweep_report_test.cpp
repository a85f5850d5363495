#include "sluice/report/sweep_report.h"

#include <gtest/gtest.h>

#include "sluice/report/html.h"
#include "sluice/report/markdown.h"
#include "tests/report/markup_reader.h"

namespace sluice {
namespace {

SweepRun run_with_loss(int seed, double loss) {
  SweepRun run{.seed = seed, .directory = "nowhere"};
  run.outcome = TrainingOutcome{};
  run.outcome->validation = Validation{.loss = loss, .sequences = 2, .length = 32, .pulse = {.sink = 0.1}};
  run.outcome->state.seconds = 2;
  return run;
}

SweepVariant variant_of(const std::string& model, const std::vector<double>& losses) {
  SweepVariant variant{.point = {{"model=" + model}}, .parameters = 1234567};
  for (size_t i = 0; i < losses.size(); ++i)
    variant.runs.push_back(run_with_loss(static_cast<int>(i) + 1, losses[i]));
  return variant;
}

std::vector<SeededRun> metrics_of(const SweepResult& result) {
  std::vector<SeededRun> runs;
  for (const SweepVariant& variant : result.variants) {
    for (const SweepRun& run : variant.runs) {
      runs.push_back({.label = variant.point.name(), .seed = run.seed});
      runs.back().metrics.add(StepResult{.loss = 5}, {.step = 1, .tokens = 64});
      if (run.outcome) runs.back().metrics.add(*run.outcome->validation);
    }
  }
  return runs;
}

Report sweep_example(const SweepResult& result) {
  return sweep_report(result, metrics_of(result));
}

TEST(SweepReport, has_intervals_verdicts_and_curves) {
  const Report report =
      sweep_example({.variants = {variant_of("a", {3.0, 3.2, 3.1}), variant_of("b", {2.0, 2.21, 2.1})}});
  const std::string text = markdown_of(report);
  EXPECT_NE(text.find("| b | 3 | 1,234,567 | 2.10 [1.84, 2.36] |"), std::string::npos) << text;
  EXPECT_NE(
      text.find(
          "**lower:** Validation loss of b is lower than of a by 0.997 (95 % interval 0.982 to 1.011, n = "
          "3 seeds)."),
      std::string::npos)
      << text;
  EXPECT_EQ(report.header.seconds, 12);
  ASSERT_EQ(figures_of(report).size(), 1U);
  EXPECT_EQ(figures_of(report)[0]->table, "validations");
  const Table& validations = *tables_of(report).back();
  EXPECT_EQ(validations.name, "validations");
  EXPECT_EQ(validations.rows.size(), 6U);
  EXPECT_NO_THROW(MarkupReader{html_of(report)});
}

TEST(SweepReport, of_one_seed_is_undecided) {
  const std::string text =
      markdown_of(sweep_example({.variants = {variant_of("a", {3.0}), variant_of("b", {2.0})}}));
  EXPECT_NE(text.find("**undecided:** "), std::string::npos) << text;
  EXPECT_NE(text.find("but n = 1 gives no interval"), std::string::npos) << text;
}

TEST(SweepReport, counts_runs_that_diverged_and_has_no_verdict_without_a_pair) {
  SweepResult result{.variants = {variant_of("a", {3.0}), variant_of("b", {})}};
  result.variants[1].runs.push_back({.seed = 1, .directory = "nowhere"});
  const Report report = sweep_example(result);
  const std::string text = markdown_of(report);
  EXPECT_NE(text.find("2 variants, 2 runs in all, of which 1 diverged."), std::string::npos) << text;
  EXPECT_EQ(text.find("undecided"), std::string::npos) << text;
}

TEST(SweepReport, of_one_variant_has_no_differences_and_says_if_it_was_stopped) {
  const Report report =
      sweep_example({.variants = {variant_of("a", {3.0, 3.1})}, .end = RunEnd::Interrupted});
  ASSERT_EQ(report.sections.size(), 2U);
  EXPECT_NE(markdown_of(report).find("stopped before its end"), std::string::npos);
  EXPECT_NO_THROW(html_of(sweep_example({.variants = {variant_of("a", {})}, .end = RunEnd::Interrupted})));
}

}  // namespace
}  // namespace sluice
