#include "sluice/train/spike_monitor.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(SpikeMonitor, counts_losses_far_above_the_last_twenty) {
  SpikeMonitor monitor;
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(monitor.add(3.0 + 0.01 * (i % 3)));
  EXPECT_FALSE(monitor.add(3.25)) << "less than a tenth above";
  EXPECT_TRUE(monitor.add(4.0));
  EXPECT_FALSE(monitor.add(3.0));
  EXPECT_EQ(monitor.spikes(), 1);
}

TEST(SpikeMonitor, waits_until_it_has_seen_twenty) {
  SpikeMonitor monitor;
  for (int i = 0; i < 19; ++i) monitor.add(1.0);
  EXPECT_FALSE(monitor.add(100.0));
}

TEST(SpikeMonitor, goes_on_where_a_saved_one_was) {
  SpikeMonitor whole;
  for (int i = 0; i < 30; ++i) whole.add(2.0 - 0.01 * i);
  SpikeMonitor restored(whole.recent(), whole.spikes());
  EXPECT_EQ(restored.add(9.0), whole.add(9.0));
  EXPECT_EQ(restored.recent(), whole.recent());
  EXPECT_EQ(restored.spikes(), 1);
}

}  // namespace
}  // namespace sluice
