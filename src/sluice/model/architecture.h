// From a configuration to the layers that it describes: one place says which kinds of layers a model has.
#pragma once

#include <variant>

#include "sluice/model/config.h"
#include "sluice/nn/attention.h"
#include "sluice/nn/block.h"
#include "sluice/nn/experts.h"
#include "sluice/nn/mlp.h"

namespace sluice {

AttentionLayerShape attention_shape(const ModelConfig& config, int64_t layer);

using FeedForwardShape = std::variant<MlpShape, ExpertsShape>;
FeedForwardShape feed_forward_shape(const ModelConfig& config, int64_t layer);

BlockShape block_shape(const ModelConfig& config);

// Parameters have names and shapes but no values yet.
Block make_block(const ModelConfig& config, int64_t layer);

// Of one layer, without making it: there may be thousands of experts.
LayerCounts count_layer(const ModelConfig& config, int64_t layer);

}  // namespace sluice
