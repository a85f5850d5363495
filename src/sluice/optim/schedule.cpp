#include "sluice/optim/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace sluice {
namespace {

// How far `step` is from `begin` to `end`, in [0, 1].
double progress(int64_t step, int64_t begin, int64_t end) {
  if (end <= begin) return 1.0;
  return std::clamp(static_cast<double>(step - begin) / static_cast<double>(end - begin), 0.0, 1.0);
}

}  // namespace

double Schedule::rate(int64_t step) const {
  // The first step is taken, too: it has a share of the peak, not 0.
  if (step < warmup) return peak * static_cast<double>(step + 1) / static_cast<double>(warmup + 1);
  const int64_t last = steps - 1;
  const double final_rate = peak * final_share;
  switch (kind) {
    case ScheduleKind::Constant:
      return peak;
    case ScheduleKind::Linear:
      return std::lerp(peak, final_rate, progress(step, warmup, last));
    case ScheduleKind::Cosine: {
      const double wave = 0.5 * (1.0 + std::cos(std::numbers::pi * progress(step, warmup, last)));
      return std::lerp(final_rate, peak, wave);
    }
    case ScheduleKind::WarmupStableDecay: {
      const auto decay = static_cast<int64_t>(static_cast<double>(steps) * decay_share);
      return std::lerp(peak, final_rate, progress(step, std::max(warmup, last - decay), last));
    }
  }
  return peak;
}

}  // namespace sluice
