#include "sluice/analysis/attention_measure.h"

#include <algorithm>

namespace sluice {

double uniform_sink(int64_t length, int64_t key, int64_t skipped) {
  const int64_t first = key + skipped;
  double sum = 0;
  for (int64_t i = first + 1; i <= length; ++i) sum += 1.0 / static_cast<double>(i);
  return length <= first ? 0.0 : sum / static_cast<double>(length - first);
}

void KeyAttention::add(const KeyAttention& other) {
  sum += other.sum;
  late += other.late;
  queries += other.queries;
  late_queries += other.late_queries;
}

KeyAttention AttentionLayer::all() const {
  KeyAttention sum;
  for (const AttentionHead& head : by_head) sum.add(head.key);
  return sum;
}

void add_key_attention(AttentionLayer& layer, const Tensor& probabilities, const Sequences& sequences,
                       int64_t key) {
  const auto heads = static_cast<size_t>(probabilities.cols());
  layer.by_head.resize(heads);
  const auto values = probabilities.values<float>();
  for (int64_t s = 0; s < sequences.count(); ++s) {
    const size_t half = layer.by_sequence.size() % 2;
    KeyAttention& unit = layer.by_sequence.emplace_back();
    const int64_t start = sequences.starts()[static_cast<size_t>(s)];
    for (size_t h = 0; h < heads; ++h) {
      KeyAttention here;
      for (int64_t i = key; i < sequences.length(s); ++i) {
        const double on_key = values[static_cast<size_t>(start + i) * heads + h];
        here.sum += on_key;
        ++here.queries;
        if (i < key + kFirstQueries) continue;
        here.late += on_key;
        ++here.late_queries;
      }
      layer.by_head[h].key.add(here);
      layer.by_head[h].halves[half].add(here);
      unit.add(here);
    }
  }
}

void add_entropy(AttentionLayer& layer, const Tensor& entropy) {
  const auto heads = static_cast<size_t>(entropy.cols());
  layer.by_head.resize(heads);
  const auto values = entropy.values<float>();
  for (size_t i = 0; i < values.size(); ++i) layer.by_head[i % heads].entropy += values[i];
  for (AttentionHead& head : layer.by_head) head.entropies += entropy.rows();
}

double sink_rate(const std::vector<AttentionLayer>& layers, double epsilon) {
  int64_t heads = 0, sinks = 0;
  for (const AttentionLayer& layer : layers) {
    heads += std::ssize(layer.by_head);
    sinks += std::ranges::count_if(layer.by_head,
                                   [&](const AttentionHead& head) { return head.key.mean() > epsilon; });
  }
  return static_cast<double>(sinks) / static_cast<double>(heads);
}

StrongestHead strongest_head(const std::vector<AttentionLayer>& layers) {
  StrongestHead strongest;
  for (const AttentionLayer& layer : layers)
    for (size_t h = 0; h < layer.by_head.size(); ++h)
      if (const double sink = layer.by_head[h].key.mean(); sink > strongest.sink)
        strongest = {layer.layer, static_cast<int64_t>(h), sink};
  return strongest;
}

}  // namespace sluice
