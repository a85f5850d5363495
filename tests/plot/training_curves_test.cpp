#include "sluice/plot/training_curves.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/plot/recording_canvas.h"

namespace sluice {
namespace {

LabelledRuns run_named(const std::string& name, double gate) {
  LabelledRuns run{.label = name, .runs = {{}}};
  for (int64_t step = 1; step <= 100; ++step) {
    const double x = static_cast<double>(step);
    run.runs[0].steps.push_back({.step = step, .tokens = x * 2048, .seconds = x / 4, .loss = 6 / x});
    if (step % 20 != 0) continue;
    run.runs[0].add(Validation{.step = step,
                               .loss = 6 / x,
                               .sequences = 32,
                               .length = 128,
                               .pulse = {.sink = 0.3,
                                         .sink_floor = 0.04,
                                         .max_activation = x,
                                         .gated = !std::isnan(gate),
                                         .gate_mean = gate}});
  }
  return run;
}

std::vector<LabelledRuns> two_runs() {
  return {run_named("baseline", std::nan("")), run_named("headwise", 0.5)};
}

std::vector<std::string> titles(const TrainingCurves& curves) {
  std::vector<std::string> result;
  for (const LineChart& chart : curves.details) result.push_back(chart.title);
  return result;
}

TEST(TrainingCurves, show_loss_sink_activation_and_gate) {
  const TrainingCurves curves = training_curves(two_runs(), Progression::Steps);
  EXPECT_EQ(curves.loss.series.size(), 6U) << "training, median and validation of two runs";
  EXPECT_EQ(titles(curves), (std::vector<std::string>{"Attention sink", "Max. activation", "Mean gate"}));
  EXPECT_EQ(curves.details[0].series.back().name, "uniform attention");
  EXPECT_EQ(curves.details[0].series.size(), 3U) << "the floor is the same for both";
}

TEST(TrainingCurves, leave_out_what_no_run_has) {
  const std::vector<LabelledRuns> runs = {run_named("baseline", std::nan(""))};
  EXPECT_EQ(titles(training_curves(runs, Progression::Steps)),
            (std::vector<std::string>{"Attention sink", "Max. activation"}));
}

TEST(TrainingCurves, go_over_steps_tokens_or_seconds) {
  const auto last_x = [](Progression over) {
    return training_curves(two_runs(), over).loss.series[0].x.back();
  };
  EXPECT_EQ(last_x(Progression::Steps), 100);
  EXPECT_EQ(last_x(Progression::Tokens), 204800);
  EXPECT_EQ(last_x(Progression::Seconds), 25);
}

TEST(TrainingCurves, fill_a_figure_without_overlaps) {
  std::vector<LabelledRuns> runs = two_runs();
  runs.push_back(run_named("elementwise with a name so long that the legend needs another row for it", 0.4));
  for (const Progression over : {Progression::Steps, Progression::Tokens, Progression::Seconds}) {
    const Figure figure = training_figure(training_curves(runs, over));
    RecordingCanvas canvas;
    figure.draw(canvas);
    EXPECT_EQ(canvas.collision({0, 0, figure.width, figure.height}), "");
  }
}

TEST(TrainingCurves, of_a_run_that_broke_do_not_flatten_the_others) {
  std::vector<LabelledRuns> runs = two_runs();
  for (size_t i = 30; i < 100; ++i) runs[1].runs[0].steps[i].loss = 7000;
  for (size_t i = 2; i < 5; ++i) runs[1].runs[0].validations[i].validation.pulse.max_activation = 1e20;
  const TrainingCurves curves = training_curves(runs, Progression::Steps);
  EXPECT_EQ(curves.loss.y.at_most, 9) << "one and a half times the first loss";
  EXPECT_EQ(curves.details[1].y.at_most, 150) << "and of the largest activation of the other run";
  EXPECT_EQ(curves.caption.back(), "Losses above 9 are cut off (triangles): headwise (up to 7000).");
  const Figure figure = training_figure(curves);
  RecordingCanvas canvas;
  figure.draw(canvas);
  EXPECT_EQ(canvas.collision({0, 0, figure.width, figure.height}), "");
}

TEST(TrainingCurves, of_sound_runs_cut_nothing_off) {
  for (const std::string& line : training_curves(two_runs(), Progression::Steps).caption)
    EXPECT_EQ(line.find("cut off"), std::string::npos) << line;
}

TEST(TrainingCurves, of_many_runs_have_a_legend_that_is_smaller_than_the_chart) {
  std::vector<LabelledRuns> runs;
  for (int i = 0; i < 18; ++i)
    runs.push_back(run_named("learning-rate=0.001,model=elementwise/seed-" + std::to_string(i), 0.4));
  const TrainingCurves curves = training_curves(runs, Progression::Steps);
  EXPECT_LE(legend_height(curves.legend, 656), 100);
  const Figure figure = training_figure(curves);
  RecordingCanvas canvas;
  figure.draw(canvas);
  EXPECT_TRUE(canvas.says(runs[0].label));
  EXPECT_TRUE(canvas.says("… and 7 more"));
  EXPECT_EQ(canvas.collision({0, 0, figure.width, figure.height}), "");
}

TEST(TrainingCurves, of_a_run_that_has_just_begun_say_so) {
  const std::vector<LabelledRuns> runs = {{.label = "new", .runs = {{}}}};
  const Figure figure = training_figure(training_curves(runs, Progression::Steps));
  RecordingCanvas canvas;
  figure.draw(canvas);
  EXPECT_TRUE(canvas.says("no step was taken yet"));
}

TEST(RunningMedian, follows_the_middle_and_ignores_a_spike) {
  EXPECT_EQ(running_median({1, 2, 90, 4, 5}, 3), (std::vector<double>{2, 2, 4, 5, 5}));
  EXPECT_EQ(running_median({}, 5), std::vector<double>{});
  EXPECT_EQ(running_median({3, std::nan("")}, 3), (std::vector<double>{3, 3}));
}

TEST(TrainingCurves, draw_seeds_as_their_mean_with_a_band) {
  LabelledRuns group = run_named("gated", 0.5);
  group.runs.push_back(run_named("", 0.7).runs[0]);
  for (StepMetrics& each : group.runs[1].steps) each.loss += 1;
  group.runs[1].steps.pop_back();  // and has not come as far
  const TrainingCurves curves = training_curves({&group, 1}, Progression::Steps);
  ASSERT_EQ(curves.loss.series.size(), 2U) << "median and validation";
  const Series& median = curves.loss.series[0];
  EXPECT_DOUBLE_EQ(median.y[49], (median.low[49] + median.high[49]) / 2);
  EXPECT_DOUBLE_EQ(median.high[49] - median.low[49], 1);
  EXPECT_EQ(median.low.back(), median.high.back()) << "one run alone";
  const Series& gate = curves.details.back().series[0];
  EXPECT_DOUBLE_EQ(gate.y[0], 0.6);
  EXPECT_EQ(gate.low[0], 0.5);
  EXPECT_EQ(gate.high[0], 0.7);
  EXPECT_EQ(curves.caption[1],
            "Means over 2 seeds, with bands from the lowest to the highest. Where a run has ended, over the "
            "others.");
}

}  // namespace
}  // namespace sluice
