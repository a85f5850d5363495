// Parameters and arithmetic of a model, from its configuration alone.
#pragma once

#include <cstdint>

#include "sluice/model/config.h"

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
};

ParameterCount count_parameters(const ModelConfig& config);

// Floating-point operations of a forward pass for one token, a multiply-add counted as two. Training takes
// three times as many.
struct FlopCount {
  int64_t products = 0;           // with weights: projections, gates, feed-forward, output layer
  int64_t gates = 0;              // part of products
  int64_t per_context_token = 0;  // attention: scores and mixing, for each token attended to
};

FlopCount count_flops(const ModelConfig& config);

// Of a step, forward and backward, per token of sequences of this length; of attention only the causal half
// is counted.
double training_flops_per_token(const ModelConfig& config, int64_t length);

}  // namespace sluice
