// Parameters and arithmetic of a model, from its configuration alone.
#pragma once

#include "sluice/model/config.h"
#include "sluice/nn/counts.h"

namespace sluice {

ParameterCount count_parameters(const ModelConfig& config);

FlopCount count_flops(const ModelConfig& config);

// Of a step, forward and backward, per token of sequences of this length; of attention only the causal half
// is counted.
double training_flops_per_token(const ModelConfig& config, int64_t length);

}  // namespace sluice
