#include "sluice/model/architecture.h"

#include "sluice/base/error.h"

namespace sluice {
namespace {

NormOptions norm_options(const ModelConfig& config) {
  return {.eps = config.norm_eps, .style = config.norm_style};
}

std::vector<GateSpec> gates_of(const ModelConfig& config, int64_t layer, BlockPart part) {
  std::vector<GateSpec> gates;
  for (const GateSpec& gate : config.gates) {
    if (gate.in_layer(layer) && gate.position->part == part) gates.push_back(gate);
  }
  return gates;
}

std::unique_ptr<FeedForward> make_feed_forward(const ModelConfig& config, int64_t layer) {
  const FeedForwardShape shape = feed_forward_shape(config, layer);
  const auto* mlp = std::get_if<MlpShape>(&shape);
  if (mlp == nullptr) throw bad_input({.what = "mixture-of-experts models can be counted, but not run yet"});
  return std::make_unique<Mlp>(*mlp,
                               GateSet(gates_of(config, layer, BlockPart::FeedForward), config.sizes()));
}

}  // namespace

AttentionLayerShape attention_shape(const ModelConfig& config, int64_t layer) {
  return {.sizes = config.sizes(),
          .norm = norm_options(config),
          .qk_norm = config.qk_norm,
          .qkv_bias = config.qkv_bias,
          .o_bias = config.o_bias,
          .head_norm = config.head_norm,
          .head_silu = config.head_silu,
          .gates = gates_of(config, layer, BlockPart::Mixer)};
}

FeedForwardShape feed_forward_shape(const ModelConfig& config, int64_t /*layer*/) {
  if (!config.moe) return MlpShape{.hidden = config.hidden, .width = config.feed_forward};
  return ExpertsShape{.hidden = config.hidden,
                      .experts = config.moe->experts,
                      .experts_per_token = config.moe->experts_per_token,
                      .width = config.moe->expert_width};
}

BlockShape block_shape(const ModelConfig& config) {
  return {.hidden = config.hidden,
          .norm = norm_options(config),
          .sandwich_norm = config.sandwich_norm,
          .clip = config.clip};
}

Block make_block(const ModelConfig& config, int64_t layer) {
  return {block_shape(config), std::make_unique<Attention>(attention_shape(config, layer)),
          make_feed_forward(config, layer)};
}

LayerCounts count_layer(const ModelConfig& config, int64_t layer) {
  const FeedForwardShape shape = feed_forward_shape(config, layer);
  const auto* experts = std::get_if<ExpertsShape>(&shape);
  if (experts == nullptr) return make_block(config, layer).counts();
  LayerCounts counts = block_norm_counts(block_shape(config));
  counts += Attention(attention_shape(config, layer)).counts();
  counts += experts->counts();
  return counts;
}

}  // namespace sluice
