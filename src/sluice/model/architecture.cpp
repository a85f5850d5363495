#include "sluice/model/architecture.h"

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
  GateSet gates(gates_of(config, layer, BlockPart::FeedForward), config.sizes());
  if (const auto* experts = std::get_if<ExpertsShape>(&shape))
    return std::make_unique<Experts>(*experts, std::move(gates));
  return std::make_unique<Mlp>(std::get<MlpShape>(shape), std::move(gates));
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

FeedForwardShape feed_forward_shape(const ModelConfig& config, int64_t layer) {
  if (!config.has_experts(layer)) return MlpShape{.hidden = config.hidden, .width = config.feed_forward};
  const MoeConfig& moe = *config.moe;
  return ExpertsShape{.hidden = config.hidden,
                      .experts = moe.experts,
                      .experts_per_token = moe.experts_per_token,
                      .width = moe.expert_width,
                      .weights = moe.normalised ? ChoiceWeights::Normalised : ChoiceWeights::Raw,
                      .shared_width = moe.shared_width,
                      .shared_gate = moe.shared_gate};
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
  counts += GateSet(gates_of(config, layer, BlockPart::FeedForward), config.sizes()).counts();
  return counts;
}

}  // namespace sluice
