#include "sluice/analysis/gate_measure.h"

#include <algorithm>
#include <numeric>

namespace sluice {
namespace {

constexpr double kDynamic = 0.01;

void prepare(GateLayer& layer, const Tensor& value, int64_t longest) {
  layer.heads = value.shape()[1];
  layer.width = value.shape()[2];
  layer.by_head.resize(static_cast<size_t>(layer.heads));
  for (auto& half : layer.channels) half.resize(static_cast<size_t>(layer.heads * layer.width));
  if (std::ssize(layer.by_position) < longest) layer.by_position.resize(static_cast<size_t>(longest));
}

// One token's values.
void add_token(GateLayer& layer, std::span<const float> values, int64_t position, float* head_means) {
  const auto width = static_cast<size_t>(layer.width);
  auto& channels = layer.channels[(layer.by_sequence.size() - 1) % 2];
  Moments token;
  for (size_t h = 0; h < layer.by_head.size(); ++h) {
    GateHead& head = layer.by_head[h];
    Moments moments;
    for (size_t i = h * width; i < (h + 1) * width; ++i) {
      moments.add(values[i]);
      channels[i].add(values[i]);
      head.closed += values[i] < static_cast<float>(Distribution::kClosed) ? 1 : 0;
    }
    head.all.add(moments);
    if (position == 0) head.first.add(moments);
    head_means[h] = static_cast<float>(moments.mean());
    token.add(moments);
  }
  GateUnit& unit = layer.by_sequence.back();
  (position == 0 ? layer.first : layer.others).add(token);
  (position == 0 ? unit.first : unit.others).add(token);
  layer.by_position[static_cast<size_t>(position)].add(token);
}

}  // namespace

ChannelSets sets_of(std::span<const Moments> channels) {
  ChannelSets sets;
  for (const Moments& channel : channels) {
    sets.closed.push_back(channel.mean() < Distribution::kClosed);
    sets.open.push_back(channel.mean() > Distribution::kOpen);
    sets.dynamic.push_back(channel.variance() > kDynamic);
  }
  return sets;
}

double share_of(const std::vector<bool>& set) {
  return static_cast<double>(std::ranges::count(set, true)) / static_cast<double>(set.size());
}

std::vector<Moments> GateLayer::all_channels() const {
  std::vector<Moments> all = channels[0];
  for (size_t i = 0; i < all.size(); ++i) all[i].add(channels[1][i]);
  return all;
}

ChannelSets GateLayer::channel_sets() const {
  return sets_of(all_channels());
}

ChannelSets GateLayer::channel_sets(size_t half) const {
  return sets_of(channels[half]);
}

std::vector<float> add_gate_values(GateLayer& layer, const Tensor& value, const Sequences& sequences) {
  prepare(layer, value, sequences.longest());
  const auto all = value.values<float>();
  layer.values.add(all);
  const auto row = static_cast<size_t>(layer.heads * layer.width);
  std::vector<float> head_means(static_cast<size_t>(sequences.tokens() * layer.heads));
  for (int64_t s = 0; s < sequences.count(); ++s) {
    layer.by_sequence.emplace_back();
    for (int64_t i = 0; i < sequences.length(s); ++i) {
      const auto token = static_cast<size_t>(sequences.starts()[static_cast<size_t>(s)] + i);
      add_token(layer, all.subspan(token * row, row), i, &head_means[token * layer.by_head.size()]);
    }
  }
  return head_means;
}

Distribution GateMeasure::values() const {
  Distribution all;
  for (const GateLayer& layer : layers) all.add(layer.values);
  return all;
}

Moments GateMeasure::first() const {
  Moments all;
  for (const GateLayer& layer : layers) all.add(layer.first);
  return all;
}

Moments GateMeasure::others() const {
  Moments all;
  for (const GateLayer& layer : layers) all.add(layer.others);
  return all;
}

}  // namespace sluice
