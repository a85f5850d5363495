#include "sluice/bench/scale_model.h"

#include <algorithm>
#include <set>

#include "sluice/base/assert.h"

namespace sluice::bench {
namespace {

double payload_bytes(ReduceOrder order) {
  return order == ReduceOrder::FastBf16 ? 2 : 4;
}

double sending_seconds(const Link& link, double bytes, double messages) {
  return messages * link.latency + bytes / link.bandwidth;
}

}  // namespace

Link fit_link(std::span<const LinkSample> samples) {
  SLUICE_ASSERT(samples.size() >= 2, "fit_link: {} samples", samples.size());
  // y = a + b x with weights 1 / y²: a small message counts as much as a large one.
  double w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0;
  for (const auto& [x, y] : samples) {
    const double weight = 1 / (y * y);
    w += weight;
    wx += weight * x;
    wy += weight * y;
    wxx += weight * x * x;
    wxy += weight * x * y;
  }
  const double slope = std::max((w * wxy - wx * wy) / (w * wxx - wx * wx), 1e-15);
  return {.latency = std::max((wy - slope * wx) / w, 0.0), .bandwidth = 1 / slope};
}

Volume volume_of(const StepModel& step, ReduceOrder order, int ranks) {
  const auto others = static_cast<double>(ranks - 1);
  const double share = others / static_cast<double>(ranks);
  const auto parameters = static_cast<double>(step.parameters);
  return {.bytes = share * parameters * (payload_bytes(order) + 4),
          .messages = 2 * others * static_cast<double>(step.buckets)};
}

double predict_step(const StepModel& step, const Link& link, ReduceOrder order, int ranks, bool weak) {
  const auto count = static_cast<double>(ranks);
  const double compute = weak ? step.compute : step.compute / count;
  const Volume volume = volume_of(step, order, ranks);
  const double payload = payload_bytes(order) / (payload_bytes(order) + 4);
  const double gradients = sending_seconds(link, volume.bytes * payload, volume.messages / 2);
  const double weights = sending_seconds(link, volume.bytes * (1 - payload), volume.messages / 2);
  // Not more than there is to hide behind: two thirds of the arithmetic are backward.
  const double hidden = order == ReduceOrder::Exact ? 0 : std::min(step.hidden * gradients, compute * 2 / 3);
  return compute + step.update / count + gradients - hidden + weights;
}

double state_bytes(const StepModel& step, int ranks) {
  return static_cast<double>(step.parameters) * (8 + 8 / static_cast<double>(ranks));
}

std::vector<int> predicted_nodes(int ranks) {
  std::set<int> nodes = {8, 64, 1024};
  if (ranks > 1) nodes.insert(ranks);
  return {nodes.begin(), nodes.end()};
}

}  // namespace sluice::bench
