// A model's rotary embedding with its scaling for longer contexts.
#pragma once

#include "sluice/model/config.h"
#include "sluice/ops/rope_table.h"

namespace sluice {

// Of `positions` tokens behind `past` ones. Two kinds of scaling depend on how long the sequence is; its
// length is then that of this pass with all before it. Keys of earlier passes stay as they were turned.
RopeTableOptions rope_options(const ModelConfig& config, int64_t past, int64_t positions);

}  // namespace sluice
