// Follows the training loss: counts its spikes, the paper's measure of how stable training is, and detects
// when a run has diverged although its loss is finite.
#pragma once

#include <cstdint>
#include <vector>

namespace sluice {

// What the monitor remembers; a checkpoint holds it.
struct LossHistory {
  double first = 0;                 // loss of the untrained model; 0: not known
  std::vector<double> recent = {};  // the last 20, oldest first
  int64_t spikes = 0;
  bool in_spike = false;
  int64_t far_steps = 0;  // in a row
};

// A loss is high if it lies above the median of the last 20 by six times their median absolute deviation,
// and by a tenth of the median at least; or if it is far. Highs in a row are one spike: how long one lasts
// says nothing of how many there are.
//
// A loss is far above twice that of a model that knows nothing, which is the larger of ln(vocabulary) and the
// run's first loss. A run has diverged when 50 in a row are.
class LossMonitor {
 public:
  static constexpr int64_t kWindow = 20, kFarSteps = 50;

  explicit LossMonitor(int64_t vocabulary, LossHistory history = {});

  // Whether a spike begins with this loss.
  bool add(double loss);

  // Above it a loss is far.
  double far() const;
  bool is_far() const { return history_.far_steps > 0; }
  bool has_diverged() const { return history_.far_steps >= kFarSteps; }

  const LossHistory& history() const { return history_; }

 private:
  bool is_high(double loss) const;

  double uniform_;  // loss of a model that gives every token the same probability
  LossHistory history_;
};

}  // namespace sluice
