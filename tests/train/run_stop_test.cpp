// What ends a run before its last step, and that it can go on.
#include "tests/train/runs.h"

namespace sluice {
namespace {

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
