// A model's rotary embedding with its scaling for longer contexts.
#pragma once

#include "sluice/model/config.h"
#include "sluice/ops/rope_table.h"

namespace sluice {

RopeTableOptions rope_options(const ModelConfig& config, int64_t positions);

}  // namespace sluice
