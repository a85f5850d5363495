// What ends a run before its last step, and that it can go on.
#include <fmt/format.h>

#include <cmath>

#include "sluice/train/metrics.h"
#include "tests/train/runs.h"

namespace sluice {
namespace {

// A rate that rises without end: the first steps are good, then every weight is thrown about.
RunConfig run_into_the_wild() {
  RunConfig config = small_run(Precision::F32);
  config.trainer.schedule = {.kind = ScheduleKind::Constant, .peak = 10, .warmup = 2000, .steps = 2000};
  config.validation.every = 1000;
  config.checkpoints.keep = 1;
  return config;
}

std::string divergence_of(const std::function<void()>& run) {
  try {
    run();
  } catch (const Divergence& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Failed);
    return error.what();
  }
  return "it trained";
}

TEST_F(Runs, stop_at_a_loss_that_is_not_finite) {
  RunConfig config = small_run();
  config.trainer.schedule.peak = 1e30;
  config.trainer.optimizer.max_norm = 0;
  const std::string line = divergence_of([&] { train("run", config); });
  EXPECT_NE(line.find("not finite; the first value that is not: layers.0."), std::string::npos) << line;
}

TEST_F(Runs, stop_when_the_loss_stays_far_above_that_of_an_untrained_model) {
  const RunConfig config = run_into_the_wild();
  const std::string line = divergence_of([&] { train("run", config); });
  EXPECT_NE(line.find("twice that of an untrained model"), std::string::npos) << line;
  const std::vector<StepMetrics> steps = read_metrics(directory_.path() / "run").steps;
  ASSERT_GT(steps.size(), 100U);
  ASSERT_LT(steps.size(), 2000U);
  const double limit = 2 * std::max(std::log(50), steps.front().loss);
  int64_t saved = static_cast<int64_t>(steps.size());
  for (; saved % 4 != 0 || steps[static_cast<size_t>(saved - 1)].loss > limit; --saved) continue;
  EXPECT_LE(saved, static_cast<int64_t>(steps.size()) - LossMonitor::kFarSteps);
  for (auto i = steps.size() - LossMonitor::kFarSteps; i < steps.size(); ++i)
    EXPECT_GT(steps[i].loss, limit) << "step " << i + 1;
  const std::string kept = fmt::format("step-{:06}", saved);
  EXPECT_NE(line.find(kept), std::string::npos) << line;
  EXPECT_EQ(std::filesystem::read_symlink(directory_.path() / "run/latest").filename(), kept);
}

TEST_F(Runs, whose_first_validation_is_of_a_lost_model_have_no_best_one) {
  RunConfig config = run_into_the_wild();
  divergence_of([&] { train("first", config); });
  config.validation.every = static_cast<int64_t>(read_metrics(directory_.path() / "first").steps.size()) -
                            LossMonitor::kFarSteps / 2;
  divergence_of([&] { train("second", config); });
  ASSERT_EQ(read_metrics(directory_.path() / "second").validations.size(), 1U);
  EXPECT_FALSE(std::filesystem::is_symlink(directory_.path() / "second/best"));
  EXPECT_EQ(std::filesystem::read_symlink(directory_.path() / "second/latest"),
            std::filesystem::read_symlink(directory_.path() / "first/latest"));
}

TEST_F(Runs, stopped_and_resumed_while_the_loss_is_far_end_at_the_same_step) {
  RunConfig config = run_into_the_wild();
  divergence_of([&] { train("whole", config); });
  const auto length = read_metrics(directory_.path() / "whole").steps.size();
  divergence_of([&] { train("killed", config, static_cast<int64_t>(length) - 20); });
  const std::string line = divergence_of([&] { train("killed", config); });
  EXPECT_EQ(read_metrics(directory_.path() / "killed").steps.size(), length);
}

TEST_F(Runs, without_progress_stop_and_go_on_with_more_patience) {
  RunConfig config = small_run();
  config.trainer.schedule.peak = 1e-12;  // nothing is learnt
  config.trainer.precision = Precision::F32;
  config.validation.every = 1;
  config.stop.patience = 3;
  const RunState stopped = train("run", config);
  EXPECT_LT(stopped.step, 20);
  EXPECT_EQ(stopped.stale_validations, 3);
  EXPECT_EQ(stopped.step, stopped.best_step + 3);
  EXPECT_EQ(train("run", config).step, stopped.step) << "it knows that it has stopped";
  config.stop.patience = 0;
  EXPECT_EQ(train("run", config).step, 20);
}

TEST_F(Runs, out_of_time_stop_and_end_with_the_same_weights_after_going_on) {
  RunConfig config = small_run();
  train("whole", config);
  config.stop.minutes = 1e-9;  // over before the first step, of which every session takes one
  for (int64_t session = 1; session <= 20; ++session) EXPECT_EQ(train("run", config).step, session);
  EXPECT_EQ(weights("run"), weights("whole"));
}

TEST_F(Runs, that_learn_are_not_stopped_by_patience) {
  RunConfig config = small_run();
  config.validation.every = 5;
  config.stop.patience = 3;
  EXPECT_EQ(train("run", config).step, 20);
}

}  // namespace
}  // namespace sluice
