#include "sluice/analysis/gate_agreement.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "sluice/analysis/ranks.h"

namespace sluice {
namespace {

// Of two sets.
struct Overlap {
  double both = 0, either = 0;

  void add(bool a, bool b) {
    both += a && b ? 1 : 0;
    either += a || b ? 1 : 0;
  }
  void add(const std::vector<bool>& a, const std::vector<bool>& b) {
    for (size_t i = 0; i < a.size(); ++i) add(a[i], b[i]);
  }
  double jaccard() const { return both / either; }
};

// The channels of every layer, [heads · width] each, of one text or of a half of it.
using ChannelsOfLayers = std::vector<std::vector<Moments>>;

ChannelsOfLayers channels_of(const GateMeasure& gate) {
  ChannelsOfLayers channels;
  for (const GateLayer& layer : gate.layers) channels.push_back(layer.all_channels());
  return channels;
}

ChannelsOfLayers channels_of(const GateMeasure& gate, size_t half) {
  ChannelsOfLayers channels;
  for (const GateLayer& layer : gate.layers) channels.push_back(layer.channels[half]);
  return channels;
}

struct OrderedMeans {
  std::vector<double> heads, head_numbers, layers;
};

std::vector<double> means_of(const std::vector<Moments>& all) {
  std::vector<double> means;
  for (const Moments& moments : all) means.push_back(moments.mean());
  return means;
}

OrderedMeans ordered_means(const GateMeasure& gate, const ChannelsOfLayers& channels) {
  const auto head_count = static_cast<size_t>(gate.layers.front().heads);
  const auto width = static_cast<size_t>(gate.layers.front().width);
  std::vector<Moments> heads, numbers(head_count), layers;
  for (const std::vector<Moments>& layer : channels) {
    Moments& whole = layers.emplace_back();
    for (size_t h = 0; h < head_count; ++h) {
      Moments head;
      for (size_t c = h * width; c < (h + 1) * width; ++c) head.add(layer[c]);
      heads.push_back(head);
      numbers[h].add(head);
      whole.add(head);
    }
  }
  return {means_of(heads), means_of(numbers), means_of(layers)};
}

GateAgreement agreement_of(const GateMeasure& gate, const ChannelsOfLayers& a, const ChannelsOfLayers& b) {
  Overlap closed, open, dynamic;
  for (size_t l = 0; l < a.size(); ++l) {
    const ChannelSets one = sets_of(a[l]), other = sets_of(b[l]);
    closed.add(one.closed, other.closed);
    open.add(one.open, other.open);
    dynamic.add(one.dynamic, other.dynamic);
  }
  const OrderedMeans one = ordered_means(gate, a), other = ordered_means(gate, b);
  return {.closed = closed.jaccard(),
          .open = open.jaccard(),
          .dynamic = dynamic.jaccard(),
          .heads = rank_correlation(one.heads, other.heads),
          .head_numbers = rank_correlation(one.head_numbers, other.head_numbers),
          .layers = rank_correlation(one.layers, other.layers)};
}

double token_overlap(const GateExtremes& a, const GateExtremes& b) {
  std::set<TokenId> either, first;
  for (const GateMoment& moment : a.moments()) first.insert(moment.token);
  either = first;
  int64_t both = 0;
  for (const GateMoment& moment : b.moments()) {
    both += first.contains(moment.token) ? 1 : 0;
    either.insert(moment.token);
  }
  return static_cast<double>(both) / static_cast<double>(either.size());
}

}  // namespace

GateAgreement split_half(const GateMeasure& gate) {
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  if (gate.layers.front().by_sequence.size() < 2)
    return {kUnknown, kUnknown, kUnknown, kUnknown, kUnknown, kUnknown};
  return agreement_of(gate, channels_of(gate, 0), channels_of(gate, 1));
}

GateAgreement agreement(const GateMeasure& gate, const GateMeasure& other) {
  return agreement_of(gate, channels_of(gate), channels_of(other));
}

ExtremesAgreement split_half(const std::vector<GateLayerRelations>& layers) {
  Moments open, closed;
  for (const GateLayerRelations& layer : layers) {
    for (const GateHeadRelations& head : layer.by_head) {
      if (head.halves[1].open.moments().empty()) continue;  // one sequence
      open.add(token_overlap(head.halves[0].open, head.halves[1].open));
      closed.add(token_overlap(head.halves[0].closed, head.halves[1].closed));
    }
  }
  return {open.mean(), closed.mean()};
}

double sink_order_agreement(const std::vector<AttentionLayer>& layers) {
  std::vector<double> even, odd;
  for (const AttentionLayer& layer : layers) {
    if (layer.by_sequence.size() < 2) return std::numeric_limits<double>::quiet_NaN();
    for (const AttentionHead& head : layer.by_head) {
      even.push_back(head.halves[0].mean());
      odd.push_back(head.halves[1].mean());
    }
  }
  return rank_correlation(even, odd);
}

double sink_set_agreement(const std::vector<AttentionLayer>& layers, double epsilon) {
  Overlap sinks;
  for (const AttentionLayer& layer : layers)
    for (const AttentionHead& head : layer.by_head)
      if (head.halves[1].queries > 0)
        sinks.add(head.halves[0].mean() > epsilon, head.halves[1].mean() > epsilon);
  return sinks.jaccard();
}

nlohmann::ordered_json to_json(const GateAgreement& agreement) {
  return {{"always_closed", agreement.closed},
          {"always_open", agreement.open},
          {"input_dependent", agreement.dynamic},
          {"order_of_heads", agreement.heads},
          {"order_of_head_numbers", agreement.head_numbers},
          {"order_of_layers", agreement.layers}};
}

}  // namespace sluice
