// The figures of a look with their intervals over sequences.
#include <algorithm>
#include <limits>

#include "sluice/analysis/look.h"

namespace sluice {
namespace {

struct FirstAndOthers {
  double first = 0, others = 0;  // means
};

FirstAndOthers first_and_others(std::span<const GateLayer> layers, std::span<const size_t> draw) {
  Moments first, others;
  for (const GateLayer& layer : layers) {
    for (const size_t i : draw) {
      first.add(layer.by_sequence[i].first);
      others.add(layer.by_sequence[i].others);
    }
  }
  return {first.mean(), others.mean()};
}

double ratio_of(std::span<const GateLayer> layers, std::span<const size_t> draw) {
  const FirstAndOthers means = first_and_others(layers, draw);
  // Of next to nothing, or of gates with a sign, a multiple says nothing.
  constexpr double kLeast = 1e-3;
  return means.first < kLeast ? std::numeric_limits<double>::quiet_NaN() : means.others / means.first;
}

double mean_of(std::span<const GateLayer> layers, std::span<const size_t> draw) {
  Moments all;
  for (const GateLayer& layer : layers) {
    for (const size_t i : draw) {
      all.add(layer.by_sequence[i].first);
      all.add(layer.by_sequence[i].others);
    }
  }
  return all.mean();
}

double key_mean(const Look& look, std::span<const size_t> draw, double (KeyAttention::*mean)() const) {
  double sum = 0;
  for (const AttentionLayer& layer : look.attention) {
    KeyAttention all;
    for (const size_t i : draw) all.add(layer.by_sequence[i]);
    sum += (all.*mean)();
  }
  return sum / static_cast<double>(look.attention.size());
}

Estimate ratio_estimate(std::span<const GateLayer> layers) {
  return estimate_of(layers.front().by_sequence.size(),
                     [&](std::span<const size_t> draw) { return ratio_of(layers, draw); });
}

void add_gate_estimates(GateMeasure& gate) {
  const size_t sequences = gate.layers.front().by_sequence.size();
  gate.mean =
      estimate_of(sequences, [&](std::span<const size_t> draw) { return mean_of(gate.layers, draw); });
  gate.first_ratio = ratio_estimate(gate.layers);
  gate.first_difference = estimate_of(sequences, [&](std::span<const size_t> draw) {
    const FirstAndOthers means = first_and_others(gate.layers, draw);
    return means.first - means.others;
  });
  for (GateLayer& layer : gate.layers) layer.first_ratio = ratio_estimate({&layer, 1});
}

Estimate activation_estimate(const ActivationMeasure& measure) {
  return estimate_of(measure.layers.front().by_sequence.size(), [&](std::span<const size_t> draw) {
    Moments all;
    for (const ActivationLayer& layer : measure.layers)
      for (const size_t i : draw) all.add(layer.by_sequence[i]);
    return all.mean();
  });
}

}  // namespace

void add_estimates(Look& look) {
  for (GateMeasure& gate : look.gates) add_gate_estimates(gate);
  for (ActivationMeasure& measure : look.activations) measure.of_sequences = activation_estimate(measure);
  const auto on_key = [&](double (KeyAttention::*mean)() const) {
    return estimate_of(look.chunks.size(),
                       [&](std::span<const size_t> draw) { return key_mean(look, draw, mean); });
  };
  look.sink = on_key(&KeyAttention::mean);
  look.late_sink = on_key(&KeyAttention::late_mean);
}

const GateMeasure* Look::output_gate() const {
  const auto gate = std::ranges::find(gates, GatePosition::G1->name, &GateMeasure::position);
  return gate == gates.end() ? nullptr : &*gate;
}

std::vector<double> output_gate_means(const Look& look, int64_t layer) {
  const auto& layers = look.output_gate()->layers;
  std::vector<double> means;
  for (const GateHead& head : std::ranges::find(layers, layer, &GateLayer::layer)->by_head)
    means.push_back(head.all.mean());
  return means;
}

}  // namespace sluice
