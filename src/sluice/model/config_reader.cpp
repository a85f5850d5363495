#include "sluice/model/config_reader.h"

#include <fmt/ranges.h>

#include "sluice/base/suggest.h"
#include "sluice/model/gate_reader.h"
#include "sluice/model/presets.h"

namespace sluice {
namespace {

// Larger than any model, and small enough that every count, a product of several of them, fits 63 bits.
constexpr IntegerRange kTokens{.min = 1, .max = 1 << 24};  // vocabulary, positions
constexpr IntegerRange kHidden{.min = 1, .max = 1 << 17};
constexpr IntegerRange kParts{.min = 1, .max = 1 << 12};  // layers, heads, channels of a head, experts
constexpr IntegerRange kFeedForward{.min = 1, .max = 1 << 20};
constexpr IntegerRange kExpertWidth{.min = 1, .max = 1 << 16};

enum class Family { Qwen3, Qwen2, Llama, Qwen3Next };

Family family_of(const Json& json) {
  return json.choice<Family>("model_type", {{"qwen3", Family::Qwen3},
                                            {"qwen3_moe", Family::Qwen3},
                                            {"qwen2", Family::Qwen2},
                                            {"llama", Family::Llama},
                                            {"qwen3_next", Family::Qwen3Next}});
}

void check_keys(const Json& json) {
  json.allow_keys({
      // used
      "model_type",
      "vocab_size",
      "hidden_size",
      "intermediate_size",
      "num_hidden_layers",
      "num_attention_heads",
      "num_key_value_heads",
      "head_dim",
      "max_position_embeddings",
      "rms_norm_eps",
      "rope_theta",
      "rope_scaling",
      "partial_rotary_factor",
      "tie_word_embeddings",
      "attention_bias",
      "qkv_bias",
      "use_qk_norm",
      "hidden_act",
      "headwise_attn_output_gate",
      "elementwise_attn_output_gate",
      "attn_output_gate",
      "gates",
      "sandwich_norm",
      "sdpa_norm",
      "sdpa_silu",
      "clip_block_output",
      "num_experts",
      "num_experts_per_tok",
      "moe_intermediate_size",
      "layer_types",
      "full_attention_interval",
      "mlp_bias",
      "use_sliding_window",
      "sliding_window",
      "decoder_sparse_step",
      "eos_token_id",
      "mlp_only_layers",
      "shared_expert_intermediate_size",
      // without a meaning for the decoder's arithmetic
      "architectures",
      "auto_map",
      "attention_dropout",
      "bos_token_id",
      "pad_token_id",
      "dtype",
      "initializer_range",
      "max_window_layers",
      "torch_dtype",
      "transformers_version",
      "use_cache",
      "norm_topk_prob",
      "output_router_logits",
      "pretraining_tp",
      "router_aux_loss_coef",
      "_name_or_path",
  });
}

RopeScaling read_rope_scaling(const Json& json) {
  if (!json.contains("rope_scaling")) return {};
  const Json scaling = json.at("rope_scaling");
  scaling.allow_keys({"type", "rope_type", "factor", "original_max_position_embeddings", "beta_fast",
                      "beta_slow", "attention_factor"});
  RopeScaling result;
  result.kind = scaling.choice<RopeScalingKind>(scaling.contains("rope_type") ? "rope_type" : "type",
                                                {{"default", RopeScalingKind::None},
                                                 {"linear", RopeScalingKind::Linear},
                                                 {"yarn", RopeScalingKind::Yarn}});
  if (result.kind == RopeScalingKind::None) return result;
  result.factor = scaling.number("factor", {.min = 1.0, .max = 1e6});
  result.original_positions = scaling.integer_or("original_max_position_embeddings", 0, kTokens);
  result.beta_fast = scaling.number_or("beta_fast", result.beta_fast, {.min = 0.0});
  result.beta_slow = scaling.number_or("beta_slow", result.beta_slow, {.min = 0.0});
  if (scaling.contains("attention_factor")) result.attention_factor = scaling.number("attention_factor");
  return result;
}

std::optional<MoeConfig> read_moe(const Json& json) {
  if (!json.contains("num_experts") || json.integer("num_experts", {.min = 0}) == 0) return {};
  if (json.integer_or("shared_expert_intermediate_size", 0) != 0) {
    throw json.at("shared_expert_intermediate_size").unexpected("0", "shared experts are not supported");
  }
  if (json.integer_or("decoder_sparse_step", 1) != 1) {
    throw json.at("decoder_sparse_step").unexpected("1", "every layer must have experts");
  }
  if (json.contains("mlp_only_layers") && !json.at("mlp_only_layers").array().empty()) {
    throw json.at("mlp_only_layers").unexpected("an empty array", "every layer must have experts");
  }
  MoeConfig moe{.experts = json.integer("num_experts", kParts),
                .expert_width = json.integer("moe_intermediate_size", kExpertWidth)};
  moe.experts_per_token = json.integer("num_experts_per_tok", {.min = 1, .max = moe.experts});
  return moe;
}

void refuse_other_attention(const Json& json, const ModelConfig& config) {
  if (json.boolean_or("use_sliding_window", false)) {
    throw json.at("use_sliding_window").unexpected("false", "sliding windows are not supported");
  }
  if (json.contains("layer_types")) {
    const std::vector<Json> kinds = json.at("layer_types").array();
    if (static_cast<int64_t>(kinds.size()) != config.layers) {
      throw json.at("layer_types").unexpected(fmt::format("{} entries, one per layer", config.layers));
    }
    for (const Json& kind : kinds) {
      if (kind.text() != "full_attention") {
        throw kind.unexpected("\"full_attention\"", "other kinds of layers are not supported");
      }
    }
  } else if (json.integer_or("full_attention_interval", 1) != 1) {
    throw json.at("full_attention_interval").unexpected("1", "linear-attention layers are not supported");
  }
}

void read_sizes(const Json& json, ModelConfig& config) {
  config.vocabulary = json.integer("vocab_size", kTokens);
  config.hidden = json.integer("hidden_size", kHidden);
  config.layers = json.integer("num_hidden_layers", kParts);
  config.heads = json.integer("num_attention_heads", kParts);
  config.kv_heads = json.integer_or("num_key_value_heads", config.heads, kParts);
  if (config.heads % config.kv_heads != 0) {
    throw json.at("num_key_value_heads")
        .unexpected(fmt::format("a divisor of num_attention_heads, {}", config.heads));
  }
  if (!json.contains("head_dim") && config.hidden % config.heads != 0) {
    throw json.at("hidden_size")
        .unexpected(fmt::format("a multiple of num_attention_heads, {}", config.heads), "or give head_dim");
  }
  config.head_dim = json.integer_or("head_dim", config.hidden / config.heads, kParts);
  config.moe = read_moe(json);
  if (!config.moe || json.contains("intermediate_size")) {
    config.feed_forward = json.integer("intermediate_size", kFeedForward);
  }
  config.positions = json.integer_or("max_position_embeddings", 32768, kTokens);
}

// One id, or a list of them.
std::vector<int64_t> read_end_of_text(const Json& json, int64_t vocabulary) {
  if (!json.contains("eos_token_id")) return {};
  const Json ids = json.at("eos_token_id");
  const IntegerRange range{.min = 0, .max = vocabulary - 1};
  if (!ids.is_array()) return {ids.integer(range)};
  std::vector<int64_t> list;
  for (const Json& id : ids.array()) list.push_back(id.integer(range));
  return list;
}

int64_t read_rotary(const Json& json, Family family, int64_t head_dim) {
  const double fallback = family == Family::Qwen3Next ? 0.25 : 1.0;
  const double share = json.number_or("partial_rotary_factor", fallback, {.min = 0.0, .max = 1.0});
  const auto rotary = static_cast<int64_t>(static_cast<double>(head_dim) * share);
  if (rotary % 2 != 0) {
    const char* key = json.contains("partial_rotary_factor") ? "partial_rotary_factor"
                      : json.contains("head_dim")            ? "head_dim"
                                                             : "hidden_size";
    throw json.at(key).unexpected("an even number of rotary channels per head",
                                  fmt::format("they come out as {}", rotary));
  }
  return rotary;
}

}  // namespace

ModelConfig read_model_config(const Json& json) {
  check_keys(json);
  const Family family = family_of(json);
  ModelConfig config;
  read_sizes(json, config);
  refuse_other_attention(json, config);
  if (json.text_or("hidden_act", "silu") != "silu") throw json.at("hidden_act").unexpected("\"silu\"");
  if (json.boolean_or("mlp_bias", false)) throw json.at("mlp_bias").unexpected("false");
  config.end_of_text = read_end_of_text(json, config.vocabulary);
  config.tied = json.boolean_or("tie_word_embeddings", false);
  config.norm_eps = json.number_or("rms_norm_eps", 1e-6, {.min = 0.0, .max = 1.0});
  config.norm_style = family == Family::Qwen3Next ? WeightStyle::OnePlus : WeightStyle::Plain;
  config.qk_norm = json.boolean_or("use_qk_norm", family == Family::Qwen3 || family == Family::Qwen3Next);
  config.sandwich_norm = json.boolean_or("sandwich_norm", false);
  const bool bias = json.boolean_or("attention_bias", false) || json.boolean_or("qkv_bias", false);
  config.qkv_bias = bias || family == Family::Qwen2;
  config.o_bias = bias;
  config.rope_base = json.number_or("rope_theta", 10000.0, {.min = 1.0});
  config.rope_scaling = read_rope_scaling(json);
  config.rotary = read_rotary(json, family, config.head_dim);
  config.head_norm = json.boolean_or("sdpa_norm", false);
  config.head_silu = json.boolean_or("sdpa_silu", false);
  if (json.contains("clip_block_output")) config.clip = json.number("clip_block_output", {.min = 1e-6});
  read_gates(json, config);
  return config;
}

Json load_model_json(const std::filesystem::path& path) {
  constexpr JsonLimits kLimits{.bytes = size_t{16} << 20};  // published ones have a few KiB
  std::error_code unknown;  // a path that cannot be looked at is refused when it is opened
  if (std::filesystem::is_directory(path, unknown)) return Json::load(path / "config.json", kLimits);
  if (std::filesystem::exists(path, unknown)) return Json::load(path, kLimits);
  std::vector<std::string> names;
  for (const Preset& preset : presets()) {
    if (path == preset.name) return Json::parse(preset.text, fmt::format("preset {}", preset.name));
    names.emplace_back(preset.name);
  }
  // A mistyped name gets the nearest one; a mistyped path only its own error.
  const bool looks_like_a_name = !path.has_parent_path() && path.extension() != ".json";
  if (!looks_like_a_name) return Json::load(path, kLimits);
  throw bad_input({.where = path.string(),
                   .what = "no such file or preset",
                   .hint = did_you_mean(path.string(), names).empty()
                               ? fmt::format("presets: {}", fmt::join(names, ", "))
                               : did_you_mean(path.string(), names)});
}

ModelConfig load_model_config(const std::filesystem::path& path) {
  return read_model_config(load_model_json(path));
}

}  // namespace sluice
