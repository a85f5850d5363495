#include "sluice/model/config_keys.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sluice/base/suggest.h"

namespace sluice {
namespace {

constexpr auto kFixed = KeyUse::Fixed;
constexpr auto kIgnored = KeyUse::Ignored;

constexpr ConfigKey kKeys[] = {
    {"model_type"},
    {"vocab_size"},
    {"hidden_size"},
    {"intermediate_size"},
    {"num_hidden_layers"},
    {"num_attention_heads"},
    {"num_key_value_heads"},
    {"head_dim"},
    {"max_position_embeddings"},
    {"rms_norm_eps"},
    {"tie_word_embeddings"},
    {"bos_token_id"},
    {"eos_token_id"},
    {"tokenizer_fingerprint"},
    {"attention_bias"},
    {"qkv_bias"},
    {"use_qk_norm"},
    // rotation
    {"rope_theta"},
    {"rope_scaling"},
    {"rope_parameters"},
    {"partial_rotary_factor"},
    {"original_max_position_embeddings"},
    // kinds of layers
    {"layer_types"},
    {"full_attention_interval"},
    {"use_sliding_window"},
    {"sliding_window"},
    {"max_window_layers"},
    // experts
    {"num_experts"},
    {"num_local_experts"},
    {"num_experts_per_tok"},
    {"moe_intermediate_size"},
    {"norm_topk_prob"},
    {"shared_expert_intermediate_size"},
    {"shared_expert_gate"},
    {"decoder_sparse_step"},
    {"mlp_only_layers"},
    // gates and controls
    {"headwise_attn_output_gate"},
    {"elementwise_attn_output_gate"},
    {"attn_output_gate"},
    {"gates"},
    {"sandwich_norm"},
    {"sdpa_norm"},
    {"sdpa_silu"},
    {"clip_block_output"},

    {"hidden_act", kFixed, "\"silu\""},
    {"hidden_activation", kFixed, "\"silu\""},
    {"mlp_bias", kFixed, "false"},
    {"attn_logit_softcapping", kFixed},
    {"final_logit_softcapping", kFixed},
    {"attn_logit_softcap", kFixed},
    {"final_logit_softcap", kFixed},
    {"logit_softcap", kFixed},
    {"query_pre_attn_scalar", kFixed},
    {"attention_scale", kFixed},
    {"attn_scale", kFixed},
    {"softmax_scale", kFixed},
    {"norm_type", kFixed, "\"rms_norm\""},
    {"attention_multiplier", kFixed},
    {"residual_multiplier", kFixed, "1"},
    {"embedding_multiplier", kFixed, "1"},
    {"logits_scaling", kFixed, "1"},
    {"logit_scale", kFixed, "1"},
    {"scale_emb", kFixed, "1"},
    {"scale_depth", kFixed},
    {"dim_model_base", kFixed},
    {"clip_qkv", kFixed},
    {"attention_chunk_size", kFixed},
    {"attn_temperature_tuning", kFixed, "false"},
    {"no_rope_layers", kFixed},
    {"no_rope_layer_interval", kFixed},
    {"rope_interleave", kFixed, "false"},
    {"rope_interleaved", kFixed, "false"},
    {"alibi", kFixed, "false"},
    {"parallel_attn", kFixed, "false"},
    {"use_parallel_residual", kFixed, "false"},
    {"is_encoder_decoder", kFixed, "false"},
    {"add_cross_attention", kFixed, "false"},
    {"quantization_config", kFixed},
    {"compression_config", kFixed},

    // of the files themselves, of training, of other programs
    {"architectures", kIgnored},
    {"auto_map", kIgnored},
    {"_name_or_path", kIgnored},
    {"transformers_version", kIgnored},
    {"dtype", kIgnored},
    {"torch_dtype", kIgnored},
    {"pad_token_id", kIgnored},
    {"sep_token_id", kIgnored},
    {"tokenizer_class", kIgnored},
    {"model_max_length", kIgnored},
    {"attention_dropout", kIgnored},
    {"hidden_dropout", kIgnored},
    {"initializer_range", kIgnored},
    {"use_cache", kIgnored},
    {"pretraining_tp", kIgnored},
    {"attn_implementation", kIgnored},
    {"_attn_implementation_autoset", kIgnored},
    {"output_router_logits", kIgnored},
    {"router_aux_loss_coef", kIgnored},
    // of layers that are refused by layer_types
    {"linear_conv_kernel_dim", kIgnored},
    {"linear_key_head_dim", kIgnored},
    {"linear_num_key_heads", kIgnored},
    {"linear_num_value_heads", kIgnored},
    {"linear_value_head_dim", kIgnored},
    // what every configuration of older transformers may have
    {"return_dict", kIgnored},
    {"output_hidden_states", kIgnored},
    {"output_attentions", kIgnored},
    {"torchscript", kIgnored},
    {"use_bfloat16", kIgnored},
    {"pruned_heads", kIgnored},
    {"tie_encoder_decoder", kIgnored},
    {"cross_attention_hidden_size", kIgnored},
    {"chunk_size_feed_forward", kIgnored},
    {"is_decoder", kIgnored},
    {"decoder_start_token_id", kIgnored},
    {"finetuning_task", kIgnored},
    {"id2label", kIgnored},
    {"label2id", kIgnored},
    {"num_labels", kIgnored},
    {"problem_type", kIgnored},
    {"task_specific_params", kIgnored},
    {"tf_legacy_loss", kIgnored},
    {"prefix", kIgnored},
    // generation has options of its own
    {"max_length", kIgnored},
    {"min_length", kIgnored},
    {"do_sample", kIgnored},
    {"early_stopping", kIgnored},
    {"num_beams", kIgnored},
    {"num_beam_groups", kIgnored},
    {"diversity_penalty", kIgnored},
    {"temperature", kIgnored},
    {"top_k", kIgnored},
    {"top_p", kIgnored},
    {"typical_p", kIgnored},
    {"repetition_penalty", kIgnored},
    {"length_penalty", kIgnored},
    {"no_repeat_ngram_size", kIgnored},
    {"encoder_no_repeat_ngram_size", kIgnored},
    {"bad_words_ids", kIgnored},
    {"num_return_sequences", kIgnored},
    {"output_scores", kIgnored},
    {"return_dict_in_generate", kIgnored},
    {"forced_bos_token_id", kIgnored},
    {"forced_eos_token_id", kIgnored},
    {"remove_invalid_values", kIgnored},
    {"exponential_decay_length_penalty", kIgnored},
    {"suppress_tokens", kIgnored},
    {"begin_suppress_tokens", kIgnored},
};

void check_fixed(const Json& json, const ConfigKey& key) {
  if (!json.contains(key.name) || json.at(key.name).node() == nlohmann::json::parse(key.neutral)) return;
  throw json.at(key.name).unexpected(std::string(key.neutral), "another value changes the computation");
}

void refuse_misspelt(const Json& json, const std::string& name) {
  const auto* meant =
      std::ranges::find_if(kKeys, [&](const ConfigKey& key) { return is_misspelt(name, key.name); });
  if (meant == std::ranges::end(kKeys)) return;
  throw bad_input({.where = json.at(name).where(),
                   .what = "unknown key",
                   .hint = "did you mean \"" + std::string(meant->name) + "\"?"});
}

}  // namespace

std::span<const ConfigKey> config_keys() {
  return kKeys;
}

std::vector<std::string> unknown_config_keys(const Json& json) {
  std::vector<std::string> unknown;
  for (const auto& [name, value] : json.object())
    if (std::ranges::find(kKeys, name, &ConfigKey::name) == std::ranges::end(kKeys)) unknown.push_back(name);
  return unknown;
}

void check_config_keys(const Json& json) {
  for (const std::string& name : unknown_config_keys(json)) refuse_misspelt(json, name);
  for (const ConfigKey& key : kKeys)
    if (key.use == KeyUse::Fixed) check_fixed(json, key);
}

}  // namespace sluice
