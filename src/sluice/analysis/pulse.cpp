#include "sluice/analysis/pulse.h"

#include <algorithm>
#include <cmath>

namespace sluice {
namespace {

constexpr int64_t kFirstQueries = 4;
constexpr float kClosed = 0.1F;

// Mean over queries of the probability that uniform causal attention puts on key 0.
double uniform_sink(int64_t length) {
  double sum = 0;
  for (int64_t i = 1; i <= length; ++i) sum += 1.0 / static_cast<double>(i);
  return sum / static_cast<double>(length);
}

double ratio(double sum, int64_t count) {
  return count == 0 ? 0.0 : sum / static_cast<double>(count);
}

}  // namespace

bool PulseProbe::wants(const TapName& name) const {
  return name.point == points::kProbs || name.point == points::kResidual || name.point == points::kGate;
}

PulseProbe::Layer& PulseProbe::layer(int64_t index) {
  if (index >= static_cast<int64_t>(layers_.size())) layers_.resize(static_cast<size_t>(index) + 1);
  return layers_[static_cast<size_t>(index)];
}

void PulseProbe::see_probabilities(Layer& layer, const Tensor& probs) {
  const int64_t heads = probs.shape()[0], length = probs.shape()[1], keys = probs.shape()[2];
  for (int64_t h = 0; h < heads; ++h) {
    for (int64_t i = 0; i < length; ++i) {
      const double first = probs.data<float>()[(h * length + i) * keys];
      layer.sink += first;
      if (i >= kFirstQueries) layer.sink_late += first;
    }
  }
  layer.queries += heads * length;
  layer.late_queries += heads * std::max<int64_t>(length - kFirstQueries, 0);
}

Tensor PulseProbe::visit(const Context& /*context*/, const TapName& name, const Tensor& value) {
  Layer& at = layer(name.layer);
  if (name.point == points::kProbs) {
    see_probabilities(at, value);
    if (name.layer == 0) {
      ++sequences_;
      tokens_ += value.shape()[1];
      floor_ += uniform_sink(value.shape()[1]);
    }
  } else if (name.point == points::kResidual) {
    for (const float x : value.values<float>())
      at.max_activation = std::max(at.max_activation, std::abs(static_cast<double>(x)));
  } else {
    for (const float gate : value.values<float>()) {
      gate_sum_ += gate;
      if (gate < kClosed) ++gate_closed_;
    }
    gate_count_ += value.count();
  }
  return value;
}

Pulse PulseProbe::pulse() const {
  Pulse pulse{.gated = gate_count_ > 0, .sequences = sequences_, .tokens = tokens_};
  for (const Layer& each : layers_) {
    pulse.sink += ratio(each.sink, each.queries);
    pulse.sink_late += ratio(each.sink_late, each.late_queries);
    pulse.max_activation += each.max_activation;
  }
  const auto layers = static_cast<int64_t>(layers_.size());
  pulse.sink = ratio(pulse.sink, layers);
  pulse.sink_late = ratio(pulse.sink_late, layers);
  pulse.max_activation = ratio(pulse.max_activation, layers);
  pulse.sink_floor = ratio(floor_, sequences_);
  pulse.gate_mean = ratio(gate_sum_, gate_count_);
  pulse.gate_closed = ratio(static_cast<double>(gate_closed_), gate_count_);
  return pulse;
}

}  // namespace sluice
