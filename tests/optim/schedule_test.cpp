#include "sluice/optim/schedule.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

Schedule schedule(ScheduleKind kind) {
  return {.kind = kind, .peak = 2.0, .final_share = 0.1, .warmup = 10, .steps = 101, .decay_share = 0.2};
}

TEST(Schedule, warms_up_from_a_share_of_the_peak) {
  for (const auto kind : {ScheduleKind::Constant, ScheduleKind::Linear, ScheduleKind::Cosine,
                          ScheduleKind::WarmupStableDecay}) {
    const Schedule s = schedule(kind);
    EXPECT_GT(s.rate(0), 0.0);
    for (int64_t step = 1; step <= 10; ++step) EXPECT_GT(s.rate(step), s.rate(step - 1)) << step;
    EXPECT_DOUBLE_EQ(s.rate(10), 2.0);
  }
}

TEST(Schedule, ends_at_the_final_rate) {
  for (const auto kind : {ScheduleKind::Linear, ScheduleKind::Cosine, ScheduleKind::WarmupStableDecay}) {
    EXPECT_NEAR(schedule(kind).rate(100), 0.2, 1e-12);
    EXPECT_NEAR(schedule(kind).rate(1000), 0.2, 1e-12) << "beyond the end";
  }
  EXPECT_DOUBLE_EQ(schedule(ScheduleKind::Constant).rate(100), 2.0);
}

TEST(Schedule, goes_down_as_its_name_says) {
  EXPECT_NEAR(schedule(ScheduleKind::Linear).rate(55), 1.1, 1e-12);
  EXPECT_NEAR(schedule(ScheduleKind::Cosine).rate(55), 1.1, 1e-12);
  EXPECT_GT(schedule(ScheduleKind::Cosine).rate(30), schedule(ScheduleKind::Linear).rate(30));
  EXPECT_DOUBLE_EQ(schedule(ScheduleKind::WarmupStableDecay).rate(80), 2.0);
  EXPECT_NEAR(schedule(ScheduleKind::WarmupStableDecay).rate(90), 1.1, 1e-12);
}

TEST(Schedule, of_one_step_is_defined) {
  Schedule s = schedule(ScheduleKind::Cosine);
  s.warmup = 0;
  s.steps = 1;
  EXPECT_NEAR(s.rate(0), 0.2, 1e-12);
}

}  // namespace
}  // namespace sluice
