#include "sluice/model/config_writer.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "sluice/base/assert.h"
#include "sluice/model/gate_names.h"
#include "sluice/model/rope_names.h"

namespace sluice {
namespace {

using Object = nlohmann::ordered_json;

// The family that has this arithmetic by default; everything that it does not know makes the model a Qwen3.
struct WrittenFamily {
  std::string_view model_type, architecture;

  bool norms_qk() const { return model_type.starts_with("qwen3"); }
};

WrittenFamily family_for(const ModelConfig& config) {
  if (config.norm_style == WeightStyle::OnePlus) return {"qwen3_next", "Qwen3NextForCausalLM"};
  if (config.moe && config.qkv_bias && !config.o_bias) return {"qwen2_moe", "Qwen2MoeForCausalLM"};
  if (config.moe) return {"qwen3_moe", "Qwen3MoeForCausalLM"};
  if (config.qkv_bias && !config.o_bias) return {"qwen2", "Qwen2ForCausalLM"};
  const bool plain = config.gates.empty() && !config.head_norm && !config.head_silu && !config.clip &&
                     !config.sandwich_norm && config.rotary == config.head_dim;
  if (!config.qk_norm && plain) return {"llama", "LlamaForCausalLM"};
  return {"qwen3", "Qwen3ForCausalLM"};
}

// A share of head_dim that gives `rotary` again when it is multiplied and cut off.
double rotary_share(const ModelConfig& config) {
  const auto width = static_cast<double>(config.head_dim);
  double share = static_cast<double>(config.rotary) / width;
  while (static_cast<int64_t>(width * share) < config.rotary) share = std::nextafter(share, 2.0);
  return share;
}

void add_yarn(const RopeScaling& scaling, Object& object) {
  object["beta_fast"] = scaling.beta_fast;
  object["beta_slow"] = scaling.beta_slow;
  if (scaling.mscale) object["mscale"] = *scaling.mscale;
  if (scaling.mscale_all) object["mscale_all_dim"] = *scaling.mscale_all;
  if (!scaling.truncate) object["truncate"] = false;
}

void add_rope(const ModelConfig& config, Object& json) {
  json["rope_theta"] = config.rope_base;
  if (config.rotary != config.head_dim || config.norm_style == WeightStyle::OnePlus) {
    json["partial_rotary_factor"] = rotary_share(config);
  }
  const RopeScaling& scaling = config.rope_scaling;
  if (scaling.kind == RopeScalingKind::None) return;
  Object& object = json["rope_scaling"];
  object["rope_type"] = word_for(kRopeKinds, scaling.kind);
  if (scaling.factor) object["factor"] = *scaling.factor;
  if (scaling.original_positions > 0) object["original_max_position_embeddings"] = scaling.original_positions;
  if (scaling.attention_factor) object["attention_factor"] = *scaling.attention_factor;
  if (scaling.kind == RopeScalingKind::Yarn) add_yarn(scaling, object);
  if (scaling.kind == RopeScalingKind::Llama3) {
    object["low_freq_factor"] = scaling.low_frequency;
    object["high_freq_factor"] = scaling.high_frequency;
  }
  if (scaling.kind == RopeScalingKind::LongRope) {
    object["short_factor"] = scaling.short_factors;
    object["long_factor"] = scaling.long_factors;
  }
}

Object gate_json(const GateSpec& gate) {
  Object json = {{"position", word_for(kPositions, gate.position)},
                 {"granularity", word_for(kGranularities, gate.form.granularity)},
                 {"sharing", word_for(kSharings, gate.form.sharing)},
                 {"mode", word_for(kModes, gate.form.mode)},
                 {"activation", word_for(kActivations, gate.form.activation)},
                 {"input", word_for(kInputs, gate.input)}};
  if (gate.input == GateInput::Truncated) json["channels"] = gate.channels;
  if (gate.order != GateOrder::AfterRope) json["order"] = word_for(kOrders, gate.order);
  if (!gate.layers.empty()) json["layers"] = gate.layers;
  json["init_std"] = gate.init_std;
  if (gate.bias) json["bias"] = true;
  if (gate.bias_init != 0.0) json["bias_init"] = gate.bias_init;
  return json;
}

void add_gates(const ModelConfig& config, Object& json) {
  if (config.norm_style == WeightStyle::OnePlus) {
    json["attn_output_gate"] = config.gate_layout == GateLayout::PackedPerHead;
  }
  switch (config.gate_layout) {
    case GateLayout::None:
      return;
    case GateLayout::PackedPerGroup: {
      const bool headwise = config.gates.front().form.granularity == Granularity::Headwise;
      json["headwise_attn_output_gate"] = headwise;
      json["elementwise_attn_output_gate"] = !headwise;
      return;
    }
    case GateLayout::PackedPerHead:
      json["attn_output_gate"] = true;
      return;
    case GateLayout::Separate:
      for (const GateSpec& gate : config.gates) json["gates"].push_back(gate_json(gate));
      return;
  }
}

void add_experts(const MoeConfig& moe, Object& json) {
  json["num_experts"] = moe.experts;
  json["num_experts_per_tok"] = moe.experts_per_token;
  json["moe_intermediate_size"] = moe.expert_width;
  json["norm_topk_prob"] = moe.normalised;
  json["decoder_sparse_step"] = moe.sparse_step;
  json["mlp_only_layers"] = moe.dense_layers;
  json["shared_expert_intermediate_size"] = moe.shared_width;
  if (!moe.shared_gate) json["shared_expert_gate"] = false;
}

void add_feed_forward(const ModelConfig& config, Object& json) {
  if (config.feed_forward > 0) json["intermediate_size"] = config.feed_forward;
  if (config.moe) {
    add_experts(*config.moe, json);
  } else if (config.norm_style == WeightStyle::OnePlus) {
    json["num_experts"] = 0;  // that family has experts unless it is told otherwise
  }
}

// The official code reads qkv_bias for all four projections, the others attention_bias; Qwen2 knows neither,
// Qwen2 MoE has qkv_bias for three of them.
void add_biases(const ModelConfig& config, Object& json) {
  SLUICE_ASSERT(config.qkv_bias || !config.o_bias, "config_json: a bias on o_proj alone");
  json["attention_bias"] = config.o_bias;
  if (config.gate_layout == GateLayout::PackedPerGroup) json["qkv_bias"] = config.o_bias;
  if (json["model_type"] == "qwen2_moe") json["qkv_bias"] = true;
}

void add_controls(const ModelConfig& config, Object& json) {
  if (config.sandwich_norm) json["sandwich_norm"] = true;
  if (config.head_norm) json["sdpa_norm"] = true;
  if (config.head_silu) json["sdpa_silu"] = true;
  if (config.clip) json["clip_block_output"] = *config.clip;
}

}  // namespace

Object config_json(const ModelConfig& config) {
  const WrittenFamily family = family_for(config);
  Object json = {{"architectures", {family.architecture}},
                 {"model_type", family.model_type},
                 {"hidden_act", "silu"},
                 {"vocab_size", config.vocabulary},
                 {"hidden_size", config.hidden},
                 {"num_hidden_layers", config.layers},
                 {"num_attention_heads", config.heads},
                 {"num_key_value_heads", config.kv_heads},
                 {"head_dim", config.head_dim},
                 {"max_position_embeddings", config.positions},
                 {"rms_norm_eps", config.norm_eps},
                 {"tie_word_embeddings", config.tied}};
  if (config.norm_style == WeightStyle::OnePlus) {
    json["layer_types"] = std::vector<std::string>(static_cast<size_t>(config.layers), "full_attention");
  }
  add_feed_forward(config, json);
  add_rope(config, json);
  add_biases(config, json);
  if (config.qk_norm != family.norms_qk()) json["use_qk_norm"] = config.qk_norm;
  add_controls(config, json);
  add_gates(config, json);
  if (config.begin_of_text) json["bos_token_id"] = *config.begin_of_text;
  if (config.end_of_text.size() == 1) json["eos_token_id"] = config.end_of_text.front();
  if (config.end_of_text.size() > 1) json["eos_token_id"] = config.end_of_text;
  if (config.tokenizer != 0) json["tokenizer_fingerprint"] = fmt::format("{:08x}", config.tokenizer);
  return json;
}

}  // namespace sluice
