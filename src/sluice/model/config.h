// A model's configuration: the decoder of the Qwen3 family with every axis of the gate. Plain values; reading
// them from config.json is config_reader.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sluice/nn/gate.h"
#include "sluice/ops/rms_norm.h"

namespace sluice {

// How a checkpoint stores the scores' weights. The two packed layouts have the same shape for elementwise
// gates: which one it is comes from the configuration, never from a shape.
enum class GateLayout {
  None,
  PackedPerGroup,  // official code: inside q_proj, per key/value group [G · hd query | G · hd or G gate]
  PackedPerHead,   // Qwen3-Next: inside q_proj, per query head [hd query | hd gate]
  Separate,        // tensors of their own
};

inline bool is_packed(GateLayout layout) {
  return layout == GateLayout::PackedPerGroup || layout == GateLayout::PackedPerHead;
}

enum class RopeScalingKind { None, Linear, Dynamic, Yarn, LongRope, Llama3 };

// How a model's rotation is stretched beyond the positions it was trained with. What each field does is in
// rope.cpp.
struct RopeScaling {
  RopeScalingKind kind = RopeScalingKind::None;
  std::optional<double> factor = {};                          // LongRope and Yarn may leave it out
  int64_t original_positions = 0;                             // 0: as many as the model has
  double beta_fast = 32.0, beta_slow = 1.0;                   // Yarn
  std::optional<double> attention_factor = {};                // Yarn, LongRope
  std::optional<double> mscale = {}, mscale_all = {};         // Yarn
  bool truncate = true;                                       // Yarn
  double low_frequency = 1.0, high_frequency = 4.0;           // Llama3: turns within the original positions
  std::vector<double> short_factors = {}, long_factors = {};  // LongRope: one for each pair of channels

  bool operator==(const RopeScaling&) const = default;
};

struct MoeConfig {
  int64_t experts = 0;
  int64_t experts_per_token = 0;
  int64_t expert_width = 0;
  bool normalised = false;                 // the weights of a token's experts sum up to 1
  int64_t shared_width = 0;                // of an expert that every token goes through; 0: none
  bool shared_gate = true;                 // a sigmoid of the token scales that one's output
  int64_t sparse_step = 1;                 // every so many layers has experts, the last of each run
  std::vector<int64_t> dense_layers = {};  // that have none for all that

  bool in_layer(int64_t layer) const {
    return (layer + 1) % sparse_step == 0 && std::ranges::find(dense_layers, layer) == dense_layers.end();
  }

  bool operator==(const MoeConfig&) const = default;
};

struct ModelConfig {
  int64_t vocabulary = 0, hidden = 0, layers = 0;
  int64_t heads = 0, kv_heads = 0, head_dim = 0;
  int64_t feed_forward = 0;
  int64_t positions = 0;
  bool tied = false;
  std::optional<int64_t> begin_of_text = {};  // as the file has it; whoever uses it checks it
  std::vector<int64_t> end_of_text = {};      // ids after which generation stops
  uint32_t tokenizer = 0;                     // fingerprint of the one it was trained with; 0: not known

  double norm_eps = 1e-6;
  WeightStyle norm_style = WeightStyle::Plain;
  bool qk_norm = true;
  bool sandwich_norm = false;  // also norms on the outputs of attention and feed-forward
  bool qkv_bias = false, o_bias = false;

  double rope_base = 10000.0;
  int64_t rotary = 0;  // channels of a head that turn
  RopeScaling rope_scaling = {};

  GateLayout gate_layout = GateLayout::None;
  std::vector<GateSpec> gates = {};

  // Ungated controls of the paper.
  bool head_norm = false;           // RMSNorm of each head's attention output
  bool head_silu = false;           // SiLU on the attention output
  std::optional<double> clip = {};  // block outputs clipped to ±clip

  std::optional<MoeConfig> moe = {};  // none: every layer has a dense feed-forward part

  bool has_experts(int64_t layer) const { return moe && moe->in_layer(layer); }

  BlockSizes sizes() const {
    return {.hidden = hidden, .heads = heads, .kv_heads = kv_heads, .head_dim = head_dim};
  }

  bool operator==(const ModelConfig&) const = default;
};

}  // namespace sluice
