#include "sluice/analysis/pulse.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "sluice/nn/tap_points.h"

namespace sluice {
namespace {

constexpr int64_t kFirstQueries = 4;
constexpr float kClosed = 0.1F;

// Mean over queries of the probability that uniform causal attention puts on key 0.
double uniform_sink(int64_t length) {
  double sum = 0;
  for (int64_t i = 1; i <= length; ++i) sum += 1.0 / static_cast<double>(i);
  return length == 0 ? 0.0 : sum / static_cast<double>(length);
}

double ratio(double sum, int64_t count) {
  return count == 0 ? 0.0 : sum / static_cast<double>(count);
}

}  // namespace

void PulseProbe::begin_pass(const PassTokens& tokens) {
  pass_ = tokens.sequences;
  for (int64_t s = 0; s < pass_.count(); ++s) floor_ += uniform_sink(pass_.length(s));
  sequences_ += pass_.count();
  tokens_ += pass_.tokens();
}

bool PulseProbe::wants(const TapName& name) const {
  return name.point == points::kSink || name.point == points::kResidual || name.point == points::kGate;
}

PulseProbe::Layer& PulseProbe::layer(int64_t index) {
  if (index >= static_cast<int64_t>(layers_.size())) layers_.resize(static_cast<size_t>(index) + 1);
  return layers_[static_cast<size_t>(index)];
}

// [N, H]
void PulseProbe::add_sink(Layer& layer, const Tensor& sink) const {
  const int64_t heads = sink.cols();
  for (int64_t s = 0; s < pass_.count(); ++s) {
    for (int64_t i = 0; i < pass_.length(s); ++i) {
      const float* row = sink.data<float>() + (pass_.starts()[static_cast<size_t>(s)] + i) * heads;
      for (int64_t h = 0; h < heads; ++h) {
        layer.sink += row[h];
        if (i >= kFirstQueries) layer.sink_late += row[h];
      }
    }
    layer.queries += heads * pass_.length(s);
    layer.late_queries += heads * std::max<int64_t>(pass_.length(s) - kFirstQueries, 0);
  }
}

Tensor PulseProbe::visit(const Context& /*context*/, const TapName& name, const Tensor& value) {
  Layer& at = layer(name.layer);
  if (name.point == points::kSink) {
    add_sink(at, value);
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
  // Only layers with attention have a sink.
  const auto attending = std::ranges::count_if(layers_, [](const Layer& each) { return each.queries > 0; });
  pulse.sink = ratio(pulse.sink, attending);
  pulse.sink_late = ratio(pulse.sink_late, attending);
  pulse.max_activation = ratio(pulse.max_activation, static_cast<int64_t>(layers_.size()));
  pulse.sink_floor = ratio(floor_, sequences_);
  pulse.gate_mean = ratio(gate_sum_, gate_count_);
  pulse.gate_closed = ratio(static_cast<double>(gate_closed_), gate_count_);
  return pulse;
}

nlohmann::ordered_json to_json(const Pulse& pulse) {
  nlohmann::ordered_json json = {{"sink", pulse.sink},
                                 {"sink_floor", pulse.sink_floor},
                                 {"sink_without_first_4", pulse.sink_late},
                                 {"max_activation", pulse.max_activation},
                                 {"pulse_sequences", pulse.sequences}};
  if (pulse.gated) {
    json["gate_mean"] = pulse.gate_mean;
    json["gate_below_0.1"] = pulse.gate_closed;
  }
  return json;
}

Pulse read_pulse(const Json& json) {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  constexpr NumberRange kSane{-1e300, 1e300};  // differences of such numbers are finite
  const auto number = [&](const char* key) { return json.number_or(key, kUnknown, kSane); };
  Pulse pulse{.sink = number("sink"),
              .sink_floor = number("sink_floor"),
              .sink_late = number("sink_without_first_4"),
              .max_activation = number("max_activation"),
              .gated = json.contains("gate_mean"),
              .sequences = json.integer_or("pulse_sequences", 0, {.min = 0})};
  if (pulse.gated) {
    pulse.gate_mean = number("gate_mean");
    pulse.gate_closed = number("gate_below_0.1");
  }
  return pulse;
}

Pulse measure_pulse(const Context& context, const Decoder& decoder, const PackedSequences& sequences,
                    int64_t at_most) {
  PulseProbe probe;
  const Context probed = context.with_probe(&probe);
  for (int64_t i = 0; i < std::min(at_most, sequences.count()); ++i)
    decoder.forward(probed, sequences.batch(Range{i, i + 1}).inputs);
  return probe.pulse();
}

}  // namespace sluice
