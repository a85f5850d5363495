// Which rank the others wait for. They all end a step together, so the slowest sets the pace.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sluice {

struct SlowRank {
  int rank = 0;
  double factor = 0;  // its time as a multiple of the others' median
};

class SlowRankWatch {
 public:
  // So many steps are looked at together: one step may be disturbed by anything.
  static constexpr int64_t kSteps = 20;
  // Slower by less is ordinary: sizes of shares and of machines differ a little.
  static constexpr double kSlow = 1.5;

  // Seconds of work of every rank in a step, without waiting. A rank that is slow is told once per kSteps
  // steps, and again only if it was not in between or has become much slower.
  std::optional<SlowRank> add(std::span<const double> seconds);

 private:
  std::vector<double> totals_;
  int64_t steps_ = 0;
  std::optional<SlowRank> told_;
};

}  // namespace sluice
