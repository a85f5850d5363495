#include "sluice/model/decoder_parameters.h"

#include <fmt/format.h>

namespace sluice {
namespace {

constexpr double kWeightStd = 0.02;  // initializer_range of the published configurations

}  // namespace

std::string gate_module(GatePosition position) {
  return position == GatePosition::G1 ? "gate_proj"
                                      : fmt::format("gate_g{}_proj", static_cast<int>(position) + 1);
}

void ParameterLister::add(const std::string& name, Parameter& parameter, const Shape& shape,
                          ParameterRole role) {
  parameter.name = name;
  const double std = role == ParameterRole::Matrix ? kWeightStd : 0.0;
  list_.push_back({.parameter = &parameter, .shape = shape, .role = role, .std = std});
}

void ParameterLister::add_norm(const std::string& name, Norm& norm, int64_t width) {
  norm.options = {.eps = config_.norm_eps, .style = config_.norm_style};
  add(name + ".weight", norm.weight, {width}, ParameterRole::Norm);
  list_.back().mean = config_.norm_style == WeightStyle::Plain ? 1.0 : 0.0;
}

void ParameterLister::add_linear(const std::string& name, Linear& linear, const Shape& shape, bool bias) {
  add(name + ".weight", linear.weight, shape);
  if (bias) add(name + ".bias", linear.bias, {shape.rows()}, ParameterRole::Bias);
}

void ParameterLister::add_gate(const std::string& prefix, const GateSpec& spec, AttentionLayer& attention) {
  const std::string name = prefix + gate_module(spec.position);
  Gate& gate = attention.gates[spec.position];
  gate.spec = spec;
  gate.heads = config_.gated_heads(spec.position);
  const int64_t scores = config_.score_count(spec);
  if (spec.input == GateInput::Constant) {
    add(name + ".constant", gate.constant, {scores}, ParameterRole::GateConstant);
    list_.back().std = spec.init_std;
    list_.back().mean = spec.bias_init;
    return;
  }
  add(name + ".weight", gate.scores.weight, {scores, config_.score_inputs(spec)});
  list_.back().std = spec.init_std;
  if (!spec.bias) return;
  add(name + ".bias", gate.scores.bias, {scores}, ParameterRole::Bias);
  list_.back().mean = spec.bias_init;
}

void ParameterLister::add_attention(const std::string& prefix, int64_t layer, AttentionLayer& attention) {
  const int64_t query = config_.heads * config_.head_dim;
  const int64_t kv = config_.kv_heads * config_.head_dim;
  attention.heads = config_.heads;
  attention.kv_heads = config_.kv_heads;
  attention.head_silu = config_.head_silu;
  add_linear(prefix + "q_proj", attention.q, {query, config_.hidden}, config_.qkv_bias);
  add_linear(prefix + "k_proj", attention.k, {kv, config_.hidden}, config_.qkv_bias);
  add_linear(prefix + "v_proj", attention.v, {kv, config_.hidden}, config_.qkv_bias);
  add_linear(prefix + "o_proj", attention.o, {config_.hidden, query}, config_.o_bias);
  if (config_.qk_norm) add_norm(prefix + "q_norm", attention.q_norm, config_.head_dim);
  if (config_.qk_norm) add_norm(prefix + "k_norm", attention.k_norm, config_.head_dim);
  if (config_.head_norm) add_norm(prefix + "sdpa_norm", attention.head_norm, config_.head_dim);
  for (const GateSpec& spec : config_.gates) {
    if (spec.in_layer(layer)) add_gate(prefix, spec, attention);
  }
}

void ParameterLister::add_block(int64_t layer, DecoderBlock& block) {
  const std::string prefix = fmt::format("model.layers.{}.", layer);
  add_norm(prefix + "input_layernorm", block.attention_norm, config_.hidden);
  add_attention(prefix + "self_attn.", layer, block.attention);
  add_norm(prefix + "post_attention_layernorm", block.mlp_norm, config_.hidden);
  add_linear(prefix + "mlp.gate_proj", block.mlp.gate, {config_.feed_forward, config_.hidden}, false);
  add_linear(prefix + "mlp.up_proj", block.mlp.up, {config_.feed_forward, config_.hidden}, false);
  add_linear(prefix + "mlp.down_proj", block.mlp.down, {config_.hidden, config_.feed_forward}, false);
  if (!config_.sandwich_norm) return;
  add_norm(prefix + "attn_output_norm", block.attention_out_norm, config_.hidden);
  add_norm(prefix + "mlp_output_norm", block.mlp_out_norm, config_.hidden);
}

Tensor initial_values(MemoryPool& pool, const Threads& threads, const NamedParameter& named,
                      const Random& random) {
  constexpr int64_t kGrain = 1 << 16;  // elements; a few milliseconds of work
  Tensor values = Tensor::empty(pool, named.shape, DType::F32);
  threads.split(values.count(), kGrain, [&](Range range) {
    const auto first = static_cast<size_t>(range.begin);
    random.fill_normal(values.values<float>().subspan(first, static_cast<size_t>(range.end) - first), first,
                       static_cast<float>(named.mean), static_cast<float>(named.std));
  });
  return values;
}

}  // namespace sluice
