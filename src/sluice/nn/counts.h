// Parameters and arithmetic of a layer or a model, known from its shape alone.
#pragma once

#include <cstdint>

namespace sluice {

struct ParameterCount {
  int64_t embedding = 0;
  int64_t head = 0;  // 0 if tied
  int64_t attention = 0;
  int64_t gates = 0;
  int64_t feed_forward = 0;
  int64_t router = 0;
  int64_t norms = 0;
  int64_t idle = 0;  // part of the above that a token does not use: experts that were not chosen

  int64_t total() const { return embedding + head + attention + gates + feed_forward + router + norms; }
  int64_t active() const { return total() - idle; }

  ParameterCount& operator+=(const ParameterCount& other);
};

// Floating-point operations of a forward pass for one token, a multiply-add counted as two. Training takes
// three times as many.
struct FlopCount {
  int64_t products = 0;           // with weights: projections, gates, feed-forward, output layer
  int64_t gates = 0;              // part of products
  int64_t per_context_token = 0;  // attention: scores and mixing, for each token attended to

  FlopCount& operator+=(const FlopCount& other);
};

struct LayerCounts {
  ParameterCount parameters;
  FlopCount flops;

  LayerCounts& operator+=(const LayerCounts& other);
};

inline ParameterCount& ParameterCount::operator+=(const ParameterCount& other) {
  embedding += other.embedding;
  head += other.head;
  attention += other.attention;
  gates += other.gates;
  feed_forward += other.feed_forward;
  router += other.router;
  norms += other.norms;
  idle += other.idle;
  return *this;
}

inline FlopCount& FlopCount::operator+=(const FlopCount& other) {
  products += other.products;
  gates += other.gates;
  per_context_token += other.per_context_token;
  return *this;
}

inline LayerCounts& LayerCounts::operator+=(const LayerCounts& other) {
  parameters += other.parameters;
  flops += other.flops;
  return *this;
}

}  // namespace sluice
