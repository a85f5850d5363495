#include "sluice/model/config_reader.h"

#include <fmt/ranges.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "sluice/model/config_keys.h"
#include "sluice/model/gate_reader.h"
#include "sluice/model/model_directory.h"
#include "sluice/model/presets.h"
#include "sluice/model/rope_reader.h"

namespace sluice {
namespace {

// Larger than any model, and small enough that every count, a product of several of them, fits 63 bits.
constexpr IntegerRange kTokens{.min = 1, .max = 1 << 24};  // vocabulary, positions
constexpr IntegerRange kHidden{.min = 1, .max = 1 << 17};
constexpr IntegerRange kParts{.min = 1, .max = 1 << 12};  // layers, heads, channels of a head, experts
constexpr IntegerRange kFeedForward{.min = 1, .max = 1 << 20};
// Several times those of the largest models. Each is some hundred bytes before a weight is read.
constexpr int64_t kMostExperts = 1 << 17;
constexpr IntegerRange kExpertWidth{.min = 1, .max = 1 << 16};

enum class Family { Qwen3, Qwen2, Qwen2Moe, Llama, Mistral, Qwen3Next };

Family family_of(const Json& json) {
  return json.choice<Family>("model_type", {{"qwen3", Family::Qwen3},
                                            {"qwen3_moe", Family::Qwen3},
                                            {"qwen2", Family::Qwen2},
                                            {"qwen2_moe", Family::Qwen2Moe},
                                            {"llama", Family::Llama},
                                            {"mistral", Family::Mistral},
                                            {"qwen3_next", Family::Qwen3Next}});
}

// Transformers 5 has two names for it.
std::optional<Json> experts_of(const Json& json) {
  for (const char* key : {"num_experts", "num_local_experts"})
    if (json.contains(key) && json.integer(key, {.min = 0}) > 0) return json.at(key);
  return {};
}

// Families of mixtures have another default in every version of transformers; 0 says that there are none.
void refuse_unsaid_experts(const Json& json) {
  if (!json.text("model_type").ends_with("_moe") || json.contains("num_local_experts")) return;
  json.integer("num_experts", {.min = 0});
}

std::vector<int64_t> read_dense_layers(const Json& json, int64_t layers) {
  std::vector<int64_t> list;
  if (!json.contains("mlp_only_layers")) return list;
  for (const Json& layer : json.at("mlp_only_layers").array())
    list.push_back(layer.integer({.min = 0, .max = layers - 1}));
  return list;
}

// Two families have a shared expert unless they say 0; how wide theirs is when they say nothing differs
// between versions of their code.
void read_shared_expert(const Json& json, Family family, MoeConfig& moe) {
  constexpr const char* kKey = "shared_expert_intermediate_size";
  const bool usual = family == Family::Qwen2Moe || family == Family::Qwen3Next;
  const IntegerRange range{.min = 0, .max = kFeedForward.max};
  moe.shared_width = usual ? json.integer(kKey, range) : json.integer_or(kKey, 0, range);
  moe.shared_gate = json.boolean_or("shared_expert_gate", true);
}

std::optional<MoeConfig> read_moe(const Json& json, Family family, int64_t layers) {
  const std::optional<Json> experts = experts_of(json);
  if (!experts) {
    refuse_unsaid_experts(json);
    return {};
  }
  if (json.integer_or("num_local_experts", experts->integer()) != experts->integer())
    throw json.at("num_local_experts").unexpected(fmt::format("{}, as num_experts", experts->integer()));
  MoeConfig moe{.experts = experts->integer(kParts),
                .expert_width = json.integer("moe_intermediate_size", kExpertWidth)};
  if (moe.experts * layers > kMostExperts)
    throw experts->unexpected(fmt::format("at most {} in all layers together", kMostExperts));
  moe.experts_per_token = json.integer("num_experts_per_tok", {.min = 1, .max = moe.experts});
  moe.normalised = json.boolean_or("norm_topk_prob", family == Family::Qwen3Next);
  moe.sparse_step = json.integer_or("decoder_sparse_step", 1, kParts);
  moe.dense_layers = read_dense_layers(json, layers);
  read_shared_expert(json, family, moe);
  return moe;
}

bool has_dense_layer(const ModelConfig& config) {
  for (int64_t layer = 0; layer < config.layers; ++layer)
    if (!config.has_experts(layer)) return true;
  return false;
}

// Older tokens than so many are not attended to. None: all are, in every layer.
std::optional<int64_t> read_window(const Json& json, Family family, int64_t layers) {
  const bool said = json.node().contains("sliding_window");
  // What transformers takes for a key that is not there.
  const int64_t window = json.integer_or("sliding_window", 4096, {.min = 0});
  if (family == Family::Mistral && (json.contains("sliding_window") || !said)) return window;
  const bool used =
      json.boolean_or("use_sliding_window", false) && (json.contains("sliding_window") || !said);
  // The layers from that one on have it.
  if (used && json.integer_or("max_window_layers", 0) < layers) return window;
  return {};
}

// A window that reaches over all of a model's positions hides nothing.
void refuse_windows(const Json& json, Family family, const ModelConfig& config) {
  const std::optional<int64_t> window = read_window(json, family, config.layers);
  if (!window || *window >= config.positions) return;
  const std::string expected = fmt::format("null, or at least {}, the model's positions", config.positions);
  if (json.contains("sliding_window"))
    throw json.at("sliding_window").unexpected(expected, "sliding windows are not supported");
  throw bad_input({.where = json.where(),
                   .what = fmt::format("without sliding_window this family has a window of {}", *window),
                   .expected = "sliding_window: " + expected,
                   .hint = "sliding windows are not supported"});
}

void check_layer_types(const Json& json, const ModelConfig& config) {
  const std::vector<Json> kinds = json.at("layer_types").array();
  if (std::ssize(kinds) != config.layers)
    throw json.at("layer_types").unexpected(fmt::format("{} entries, one per layer", config.layers));
  const bool wide_windows =
      json.contains("sliding_window") && json.integer("sliding_window") >= config.positions;
  for (const Json& kind : kinds) {
    if (kind.text() == "full_attention" || (wide_windows && kind.text() == "sliding_attention")) continue;
    throw kind.unexpected("\"full_attention\"", "other kinds of layers are not supported");
  }
}

void refuse_other_attention(const Json& json, Family family, const ModelConfig& config) {
  refuse_windows(json, family, config);
  if (json.contains("layer_types")) return check_layer_types(json, config);
  if (json.integer_or("full_attention_interval", 1) != 1)
    throw json.at("full_attention_interval").unexpected("1", "linear-attention layers are not supported");
}

void read_sizes(const Json& json, Family family, ModelConfig& config) {
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
  config.moe = read_moe(json, family, config.layers);
  if (has_dense_layer(config) || json.contains("intermediate_size")) {
    config.feed_forward = json.integer("intermediate_size", kFeedForward);
  }
  config.positions = json.integer_or("max_position_embeddings", 32768, kTokens);
}

// attention_bias is of all four projections. So is the official code's qkv_bias, but in Qwen2 MoE it says
// what it means, and is true if it is not there.
void read_biases(const Json& json, Family family, ModelConfig& config) {
  const bool all = json.boolean_or("attention_bias", false);
  const bool named = json.boolean_or("qkv_bias", family == Family::Qwen2Moe);
  config.qkv_bias = all || named || family == Family::Qwen2;
  config.o_bias = all || (named && family != Family::Qwen2Moe);
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

// Eight hexadecimal digits, as the trainer writes them.
uint32_t read_fingerprint(const Json& json) {
  if (!json.contains("tokenizer_fingerprint")) return 0;
  const std::string text = json.text("tokenizer_fingerprint");
  uint32_t fingerprint = 0;
  const auto [stop, problem] = std::from_chars(text.data(), text.data() + text.size(), fingerprint, 16);
  if (text.size() != 8 || problem != std::errc() || stop != text.data() + text.size())
    throw json.at("tokenizer_fingerprint").unexpected("eight hexadecimal digits");
  return fingerprint;
}

}  // namespace

ModelConfig read_model_config(const Json& json) {
  check_config_keys(json);
  const Family family = family_of(json);
  ModelConfig config;
  read_sizes(json, family, config);
  refuse_other_attention(json, family, config);
  if (json.contains("bos_token_id")) config.begin_of_text = json.integer("bos_token_id");
  config.end_of_text = read_end_of_text(json, config.vocabulary);
  config.tokenizer = read_fingerprint(json);
  config.tied = json.boolean_or("tie_word_embeddings", false);
  config.norm_eps = json.number_or("rms_norm_eps", 1e-6, {.min = 0.0, .max = 1.0});
  config.norm_style = family == Family::Qwen3Next ? WeightStyle::OnePlus : WeightStyle::Plain;
  config.qk_norm = json.boolean_or("use_qk_norm", family == Family::Qwen3 || family == Family::Qwen3Next);
  config.sandwich_norm = json.boolean_or("sandwich_norm", false);
  read_biases(json, family, config);
  read_rope(json, family == Family::Qwen3Next ? 0.25 : 1.0, config);
  config.head_norm = json.boolean_or("sdpa_norm", false);
  config.head_silu = json.boolean_or("sdpa_silu", false);
  if (json.contains("clip_block_output")) config.clip = json.number("clip_block_output", {.min = 1e-6});
  read_gates(json, config);
  return config;
}

Json load_model_json(const std::filesystem::path& path) {
  constexpr JsonLimits kLimits{.bytes = size_t{16} << 20};  // published ones have a few KiB
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown))
    return Json::load(model_directory(path) / "config.json", kLimits);
  return load_file_or_preset(path, presets(), kLimits);
}

ModelConfig load_model_config(const std::filesystem::path& path, const JobControl& control) {
  const Json json = load_model_json(model_directory(path, control));
  ModelConfig config = read_model_config(json);
  const std::vector<std::string> unknown = unknown_config_keys(json);
  if (!unknown.empty())
    control.warn("{}: unknown keys are ignored: {}", json.where(), fmt::join(unknown, ", "));
  return config;
}

}  // namespace sluice
