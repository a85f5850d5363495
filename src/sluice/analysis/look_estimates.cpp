// The figures of a look with their intervals.
#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "sluice/analysis/look.h"
#include "sluice/analysis/ranks.h"

namespace sluice {
namespace {

std::vector<size_t> every(size_t units) {
  std::vector<size_t> all(units);
  for (size_t i = 0; i < units; ++i) all[i] = i;
  return all;
}

// A figure of the sequences that a draw names.
Uncertain estimate(size_t units, const FigureOfDraw& figure) {
  return {.value = figure(every(units)), .ci95 = bootstrap(units, figure)};
}

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

// Of two sets.
struct Overlap {
  double both = 0, either = 0;

  void add(const std::vector<bool>& a, const std::vector<bool>& b) {
    for (size_t i = 0; i < a.size(); ++i) {
      both += a[i] && b[i] ? 1 : 0;
      either += a[i] || b[i] ? 1 : 0;
    }
  }
  double jaccard() const { return both / either; }
};

// The heads' means, layer after layer, of one half of the sequences.
std::vector<double> head_means(const GateMeasure& gate, size_t half) {
  std::vector<double> means;
  for (const GateLayer& layer : gate.layers) {
    for (int64_t h = 0; h < layer.heads; ++h) {
      Moments head;
      for (int64_t c = 0; c < layer.width; ++c)
        head.add(layer.channels[half][static_cast<size_t>(h * layer.width + c)]);
      means.push_back(head.mean());
    }
  }
  return means;
}

std::vector<double> by_head_means(const GateLayer& layer) {
  std::vector<double> means;
  for (const GateHead& head : layer.by_head) means.push_back(head.all.mean());
  return means;
}

}  // namespace

Uncertain gate_mean(const GateMeasure& gate) {
  return estimate(gate.layers.front().by_sequence.size(),
                  [&](std::span<const size_t> draw) { return mean_of(gate.layers, draw); });
}

Uncertain first_token_ratio(const GateMeasure& gate) {
  return estimate(gate.layers.front().by_sequence.size(),
                  [&](std::span<const size_t> draw) { return ratio_of(gate.layers, draw); });
}

Uncertain first_token_ratio(const GateLayer& layer) {
  return estimate(layer.by_sequence.size(), [&](std::span<const size_t> draw) {
    return ratio_of({&layer, 1}, draw);
  });
}

Uncertain first_token_difference(const GateMeasure& gate) {
  return estimate(gate.layers.front().by_sequence.size(), [&](std::span<const size_t> draw) {
    const FirstAndOthers means = first_and_others(gate.layers, draw);
    return means.first - means.others;
  });
}

Uncertain sink(const Look& look) {
  return estimate(look.chunks.size(),
                  [&](std::span<const size_t> draw) { return key_mean(look, draw, &KeyAttention::mean); });
}

Uncertain late_sink(const Look& look) {
  return estimate(look.chunks.size(), [&](std::span<const size_t> draw) {
    return key_mean(look, draw, &KeyAttention::late_mean);
  });
}

Uncertain largest_activation(const ActivationMeasure& measure) {
  return estimate(measure.layers.front().by_sequence.size(), [&](std::span<const size_t> draw) {
    Moments all;
    for (const ActivationLayer& layer : measure.layers)
      for (const size_t i : draw) all.add(layer.by_sequence[i]);
    return all.mean();
  });
}

SplitHalf split_half(const GateMeasure& gate) {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  if (gate.layers.front().by_sequence.size() < 2) return {kUnknown, kUnknown, kUnknown, kUnknown};
  Overlap closed, open, dynamic;
  for (const GateLayer& layer : gate.layers) {
    const ChannelSets even = layer.channel_sets(0), odd = layer.channel_sets(1);
    closed.add(even.closed, odd.closed);
    open.add(even.open, odd.open);
    dynamic.add(even.dynamic, odd.dynamic);
  }
  return {.closed = closed.jaccard(),
          .open = open.jaccard(),
          .dynamic = dynamic.jaccard(),
          .heads = rank_correlation(head_means(gate, 0), head_means(gate, 1))};
}

const GateMeasure* Look::output_gate() const {
  const auto gate = std::ranges::find(gates, GatePosition::G1->name, &GateMeasure::position);
  return gate == gates.end() ? nullptr : &*gate;
}

std::vector<double> output_gate_means(const Look& look, int64_t layer) {
  const auto& layers = look.output_gate()->layers;
  const auto measured = std::ranges::find(layers, layer, &GateLayer::layer);
  return by_head_means(*measured);
}

Uncertain mean_of_samples(const std::vector<double>& samples) {
  return estimate(samples.size(), [&](std::span<const size_t> draw) {
    double sum = 0;
    for (const size_t i : draw) sum += samples[i];
    return sum / static_cast<double>(draw.size());
  });
}

nlohmann::ordered_json to_json(const Uncertain& figure) {
  return {{"value", figure.value}, {"ci95", to_json(figure.ci95)}};
}

}  // namespace sluice
