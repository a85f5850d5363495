// The learning rate over a run.
#pragma once

#include <cstdint>

namespace sluice {

enum class ScheduleKind {
  Constant,
  Linear,            // down to the end
  Cosine,            // half a wave down to the end
  WarmupStableDecay  // constant, then linear over the last part
};

struct Schedule {
  ScheduleKind kind = ScheduleKind::Cosine;
  double peak = 1e-3;
  double final_share = 0.1;  // of the peak, at the end
  int64_t warmup = 0;        // steps from 0 to the peak
  int64_t steps = 1;         // of the whole run
  double decay_share = 0.2;  // of the run: the last part of warm-up-stable-decay

  // For step 0, 1, …, steps - 1. The first step after warm-up has the peak; the last one the final rate,
  // unless the rate is constant.
  double rate(int64_t step) const;
};

}  // namespace sluice
