#include "sluice/train/loss_monitor.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sluice {
namespace {

constexpr int64_t kWords = 1024;  // ln: 6.93

TEST(LossMonitor, counts_losses_far_above_the_last_twenty) {
  LossMonitor monitor(kWords);
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(monitor.add(3.0 + 0.01 * (i % 3)));
  EXPECT_FALSE(monitor.add(3.25)) << "less than a tenth above";
  EXPECT_TRUE(monitor.add(4.0));
  EXPECT_FALSE(monitor.add(3.0));
  EXPECT_EQ(monitor.history().spikes, 1);
}

TEST(LossMonitor, waits_until_it_has_seen_twenty) {
  LossMonitor monitor(kWords);
  for (int i = 0; i < 19; ++i) monitor.add(1.0);
  EXPECT_FALSE(monitor.add(10.0));
}

TEST(LossMonitor, counts_a_spike_once_however_long_it_lasts) {
  LossMonitor monitor(kWords);
  for (int i = 0; i < 20; ++i) monitor.add(3.0);
  for (const double loss : {5.0, 6.0, 5.5, 3.0, 3.0, 5.0}) monitor.add(loss);
  EXPECT_EQ(monitor.history().spikes, 2);
}

TEST(LossMonitor, counts_a_loss_beyond_twice_that_of_knowing_nothing_from_the_first_steps_on) {
  LossMonitor monitor(kWords);
  monitor.add(7.0);
  EXPECT_FALSE(monitor.add(13.9));
  EXPECT_FALSE(monitor.is_far());
  EXPECT_TRUE(monitor.add(14.1)) << "twice the first loss is more than twice ln 1024";
  EXPECT_TRUE(monitor.is_far());
}

TEST(LossMonitor, calls_a_run_diverged_whose_loss_stays_beyond_for_fifty_steps) {
  LossMonitor monitor(kWords);
  for (int i = 0; i < 30; ++i) monitor.add(7.0 - 0.1 * i);
  for (int i = 0; i < 49; ++i) monitor.add(7000.0);
  EXPECT_FALSE(monitor.has_diverged());
  monitor.add(6.0);
  EXPECT_FALSE(monitor.is_far()) << "it came back";
  for (int i = 0; i < 49; ++i) monitor.add(20.0 + i % 7);
  EXPECT_FALSE(monitor.has_diverged());
  monitor.add(20.0);
  EXPECT_TRUE(monitor.has_diverged());
  EXPECT_EQ(monitor.history().spikes, 2);
}

TEST(LossMonitor, measures_a_badly_initialised_model_by_where_it_began) {
  LossMonitor monitor(kWords);
  for (int i = 0; i < 100; ++i) monitor.add(300.0 - i);
  EXPECT_FALSE(monitor.is_far());
  EXPECT_EQ(monitor.history().spikes, 0);
}

TEST(LossMonitor, goes_on_where_a_saved_one_was) {
  LossMonitor whole(kWords);
  for (int i = 0; i < 30; ++i) whole.add(7.0 - 0.01 * i);
  whole.add(9.0);
  for (int i = 0; i < 10; ++i) whole.add(100.0);
  LossMonitor restored(kWords, whole.history());
  EXPECT_FALSE(restored.add(100.0)) << "still the same spike";
  EXPECT_EQ(restored.history().spikes, 1);
  for (int i = 0; i < 39; ++i) restored.add(100.0);
  EXPECT_TRUE(restored.has_diverged());
}

TEST(LossMonitor, that_does_not_know_the_first_loss_takes_the_uniform_one) {
  EXPECT_DOUBLE_EQ(LossMonitor(kWords, {.recent = {7000.0}}).far(), 2 * std::log(kWords));
}

}  // namespace
}  // namespace sluice
