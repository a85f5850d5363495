// The model that tests use when any model will do: two layers, four heads on two keys, no gate.
#pragma once

#include <utility>
#include <vector>

#include "sluice/model/config.h"

namespace sluice {

inline ModelConfig small_model() {
  return {.vocabulary = 50,
          .hidden = 32,
          .layers = 2,
          .heads = 4,
          .kv_heads = 2,
          .head_dim = 8,
          .feed_forward = 48,
          .positions = 64,
          .rotary = 8};
}

inline ModelConfig small_model(GateLayout layout, std::vector<GateSpec> gates) {
  ModelConfig config = small_model();
  config.gate_layout = layout;
  config.gates = std::move(gates);
  return config;
}

}  // namespace sluice
