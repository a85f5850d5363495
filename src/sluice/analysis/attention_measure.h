// Where the attention of one layer goes, over all sequences that have passed: how much of it lies on one key,
// the first unless another is asked for, and how concentrated it is.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sluice/ops/sequences.h"
#include "sluice/tensor/tensor.h"

namespace sluice {

// Queries before this one see so few keys that uniform attention looks like a sink.
constexpr int64_t kFirstQueries = 4;

// What uniform causal attention puts on the key, on average over the queries of a sequence that see it;
// without the first `skipped` of these.
double uniform_sink(int64_t length, int64_t key = 0, int64_t skipped = 0);

// Of so many queries.
struct KeyAttention {
  double sum = 0, late = 0;  // late: without the first four queries
  int64_t queries = 0, late_queries = 0;

  void add(const KeyAttention& other);
  double mean() const { return sum / static_cast<double>(queries); }
  double late_mean() const { return late / static_cast<double>(late_queries); }
};

struct AttentionHead {
  KeyAttention key;
  std::array<KeyAttention, 2> halves = {};  // of every other sequence
  double entropy = 0;                       // sum over queries, nats
  int64_t entropies = 0;

  double mean_entropy() const { return entropy / static_cast<double>(entropies); }
};

struct AttentionLayer {
  int64_t layer = 0;
  std::vector<AttentionHead> by_head = {};
  std::vector<KeyAttention> by_sequence = {};

  KeyAttention all() const;
};

// [N, heads]: the probability on the key at every query. Queries before it do not see it.
void add_key_attention(AttentionLayer& layer, const Tensor& probabilities, const Sequences& sequences,
                       int64_t key = 0);

// [N, heads], nats.
void add_entropy(AttentionLayer& layer, const Tensor& entropy);

// Share of the heads whose mean probability on the key is above epsilon (Gu et al. 2025; there 0.3).
double sink_rate(const std::vector<AttentionLayer>& layers, double epsilon);
inline constexpr std::array kSinkRates = {0.1, 0.3, 0.5};

// A model has a sink if its first token gets so many times what uniform attention would give it.
inline constexpr double kSinkTimesUniform = 3;

// The head whose mean probability on the key is largest.
struct StrongestHead {
  int64_t layer = 0, head = 0;
  double sink = 0;
};
StrongestHead strongest_head(const std::vector<AttentionLayer>& layers);

}  // namespace sluice
