#include "sluice/train/loss_monitor.h"

#include <algorithm>
#include <cmath>

namespace sluice {
namespace {

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

LossMonitor::LossMonitor(int64_t vocabulary, LossHistory history)
    : uniform_(std::log(static_cast<double>(vocabulary))), history_(std::move(history)) {}

double LossMonitor::far() const {
  return 2 * std::max(uniform_, history_.first);
}

bool LossMonitor::is_high(double loss) const {
  if (loss > far()) return true;
  return std::ssize(history_.recent) == kWindow && loss > threshold(history_.recent);
}

bool LossMonitor::add(double loss) {
  if (history_.recent.empty()) history_.first = loss;
  const bool high = is_high(loss), begins = high && !history_.in_spike;
  if (begins) ++history_.spikes;
  history_.in_spike = high;
  history_.far_steps = loss > far() ? history_.far_steps + 1 : 0;
  history_.recent.push_back(loss);
  if (std::ssize(history_.recent) > kWindow) history_.recent.erase(history_.recent.begin());
  return begins;
}

}  // namespace sluice
