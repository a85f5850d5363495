#include "sluice/model/count.h"

namespace sluice {
namespace {

// Layers that have the gate.
int64_t layers_of(const ModelConfig& config, const GateSpec& gate) {
  return gate.layers.empty() ? config.layers : static_cast<int64_t>(gate.layers.size());
}

int64_t attention_weights(const ModelConfig& config) {
  const int64_t query = config.heads * config.head_dim;
  const int64_t kv = config.kv_heads * config.head_dim;
  return config.hidden * (2 * query + 2 * kv);
}

int64_t attention_biases(const ModelConfig& config) {
  const int64_t qkv = (config.heads + 2 * config.kv_heads) * config.head_dim;
  return (config.qkv_bias ? qkv : 0) + (config.o_bias ? config.hidden : 0);
}

int64_t norm_weights(const ModelConfig& config) {
  return config.hidden * (config.sandwich_norm ? 4 : 2) + (config.qk_norm ? 2 * config.head_dim : 0) +
         (config.head_norm ? config.head_dim : 0);
}

int64_t swiglu_weights(const ModelConfig& config, int64_t width) {
  return 3 * config.hidden * width;
}

}  // namespace

ParameterCount count_parameters(const ModelConfig& config) {
  ParameterCount count;
  count.embedding = config.vocabulary * config.hidden;
  count.head = config.tied ? 0 : count.embedding;
  count.attention = config.layers * (attention_weights(config) + attention_biases(config));
  for (const GateSpec& gate : config.gates) {
    const int64_t scores = config.score_count(gate);
    count.gates += layers_of(config, gate) * (scores * config.score_inputs(gate) + (gate.bias ? scores : 0));
  }
  if (const auto& moe = config.moe) {
    const int64_t expert = swiglu_weights(config, moe->expert_width);
    count.router = config.layers * config.hidden * moe->experts;
    count.feed_forward = config.layers * moe->experts * expert;
    count.idle = config.layers * (moe->experts - moe->experts_per_token) * expert;
  } else {
    count.feed_forward = config.layers * swiglu_weights(config, config.feed_forward);
  }
  count.norms = config.layers * norm_weights(config) + config.hidden;
  return count;
}

FlopCount count_flops(const ModelConfig& config) {
  FlopCount flops;
  for (const GateSpec& gate : config.gates) {
    if (gate.input == GateInput::Constant) continue;  // a constant is added, not multiplied
    flops.gates += 2 * layers_of(config, gate) * config.score_count(gate) * config.score_inputs(gate);
  }
  const ParameterCount count = count_parameters(config);
  const int64_t in_products = config.layers * attention_weights(config) + count.feed_forward + count.router -
                              count.idle + config.vocabulary * config.hidden;
  flops.products = 2 * in_products + flops.gates;
  flops.per_context_token = 4 * config.layers * config.heads * config.head_dim;
  return flops;
}

double training_flops_per_token(const ModelConfig& config, int64_t length) {
  const FlopCount flops = count_flops(config);
  const double context = static_cast<double>(length + 1) / 2;
  return 3 * (static_cast<double>(flops.products) + static_cast<double>(flops.per_context_token) * context);
}

}  // namespace sluice
