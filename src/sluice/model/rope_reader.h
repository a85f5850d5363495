// The rotary embedding of a config.json: rope_theta, partial_rotary_factor and rope_scaling, or all of them
// in rope_parameters, as transformers 5 writes them.
#pragma once

#include "sluice/base/json.h"
#include "sluice/model/config.h"

namespace sluice {

// Fills rope_base, rotary and rope_scaling; the sizes of the configuration must be there already.
// `rotary_share` is what the family turns of a head unless it is told.
void read_rope(const Json& json, double rotary_share, ModelConfig& config);

}  // namespace sluice
