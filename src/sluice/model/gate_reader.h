// The gates of a config.json: the flags of published models, or a list of our own.
#pragma once

#include "sluice/base/json.h"
#include "sluice/model/config.h"

namespace sluice {

// Sets gate_layout and gates. The sizes of `config` must have been read.
void read_gates(const Json& json, ModelConfig& config);

}  // namespace sluice
