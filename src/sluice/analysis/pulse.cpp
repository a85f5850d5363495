#include "sluice/analysis/pulse.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "sluice/analysis/distribution.h"
#include "sluice/analysis/measured_layers.h"
#include "sluice/nn/tap_points.h"

namespace sluice {
namespace {

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
  return name.point == points::kSink || name.point == points::kResidual || name.point == points::kGate ||
         name.point == points::kRouter || name.point == points::kExperts;
}

Tensor PulseProbe::visit(const Context& /*context*/, const TapName& name, const Tensor& value) {
  if (name.point == points::kSink) {
    add_key_attention(entry_of(attention_, name.layer), value, pass_);
  } else if (name.point == points::kResidual) {
    add_activations(entry_of(activations_, name.layer), value, pass_);
  } else if (name.point == points::kRouter) {
    add_router(entry_of(experts_, name.layer), value);
  } else if (name.point == points::kExperts) {
    add_choices(entry_of(experts_, name.layer), value);
  } else {
    for (const float gate : value.values<float>()) {
      gate_sum_ += gate;
      if (gate < static_cast<float>(Distribution::kClosed)) ++gate_closed_;
    }
    gate_count_ += value.count();
  }
  return value;
}

Pulse PulseProbe::pulse() const {
  Pulse pulse{.gated = gate_count_ > 0, .sequences = sequences_, .tokens = tokens_};
  for (const AttentionLayer& layer : attention_) {
    const KeyAttention all = layer.all();
    pulse.sink += ratio(all.sum, all.queries);
    pulse.sink_late += ratio(all.late, all.late_queries);
  }
  for (const ActivationLayer& layer : activations_) pulse.max_activation += layer.largest.size;
  // Only layers with attention have a sink.
  pulse.sink = ratio(pulse.sink, std::ssize(attention_));
  pulse.sink_late = ratio(pulse.sink_late, std::ssize(attention_));
  pulse.max_activation = ratio(pulse.max_activation, std::ssize(activations_));
  pulse.sink_floor = ratio(floor_, sequences_);
  pulse.gate_mean = ratio(gate_sum_, gate_count_);
  pulse.gate_closed = ratio(static_cast<double>(gate_closed_), gate_count_);
  if (!experts_.empty()) pulse.experts = pulse_of(experts_);
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
  if (pulse.experts) {
    json["expert_load_entropy"] = pulse.experts->load_entropy;
    json["expert_largest_load"] = pulse.experts->largest_load;
    json["router_entropy"] = pulse.experts->router_entropy;
    json["dead_experts"] = pulse.experts->dead;
  }
  return json;
}

Pulse read_pulse(const Json& json) {
  constexpr double kNotThere = std::numeric_limits<double>::quiet_NaN();
  const auto number = [&](const char* key) { return json.number_or(key, kNotThere, kFinite); };
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
  if (json.contains("expert_load_entropy"))
    pulse.experts = {.load_entropy = number("expert_load_entropy"),
                     .largest_load = number("expert_largest_load"),
                     .router_entropy = number("router_entropy"),
                     .dead = json.integer_or("dead_experts", 0, {.min = 0})};
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
