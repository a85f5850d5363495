#include "sluice/dist/slow_rank.h"

#include <algorithm>

#include "sluice/base/median.h"

namespace sluice {
namespace {

// A rank twice as slow as when it was told is worth a word more.
bool is_news(const SlowRank& now, const std::optional<SlowRank>& told) {
  return !told || told->rank != now.rank || now.factor > 2 * told->factor;
}

}  // namespace

std::optional<SlowRank> SlowRankWatch::add(std::span<const double> seconds) {
  if (seconds.size() < 2) return {};
  totals_.resize(seconds.size());
  for (size_t i = 0; i < seconds.size(); ++i) totals_[i] += seconds[i];
  if (++steps_ < kSteps) return {};
  const auto slowest = std::ranges::max_element(totals_);
  std::vector<double> others(totals_.begin(), slowest);
  others.insert(others.end(), slowest + 1, totals_.end());
  const SlowRank now{static_cast<int>(slowest - totals_.begin()), *slowest / std::max(median(others), 1e-9)};
  totals_.clear();
  steps_ = 0;
  if (now.factor < kSlow) {
    told_.reset();
    return {};
  }
  if (!is_news(now, told_)) return {};
  told_ = now;
  return now;
}

}  // namespace sluice
