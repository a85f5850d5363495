#include "sluice/train/spike_monitor.h"

#include <algorithm>
#include <cmath>

namespace sluice {
namespace {

constexpr size_t kWindow = 20;

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double threshold(const std::vector<double>& recent) {
  const double median = median_of(recent);
  std::vector<double> deviations;
  for (const double loss : recent) deviations.push_back(std::abs(loss - median));
  return median + std::max(6.0 * median_of(deviations), 0.1 * median);
}

}  // namespace

bool SpikeMonitor::add(double loss) {
  const bool spike = recent_.size() == kWindow && loss > threshold(recent_);
  if (spike) ++spikes_;
  recent_.push_back(loss);
  if (recent_.size() > kWindow) recent_.erase(recent_.begin());
  return spike;
}

}  // namespace sluice
