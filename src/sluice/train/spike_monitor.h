// Counts loss spikes: the paper's measure of how stable training is.
#pragma once

#include <cstdint>
#include <vector>

namespace sluice {

// A loss is a spike if it lies above the median of the last 20 by six times their median absolute deviation,
// and by a tenth of the median at least.
class SpikeMonitor {
 public:
  SpikeMonitor() = default;
  SpikeMonitor(std::vector<double> recent, int64_t spikes) : recent_(std::move(recent)), spikes_(spikes) {}

  // Whether this loss is one.
  bool add(double loss);

  int64_t spikes() const { return spikes_; }
  const std::vector<double>& recent() const { return recent_; }  // oldest first

 private:
  std::vector<double> recent_;
  int64_t spikes_ = 0;
};

}  // namespace sluice
