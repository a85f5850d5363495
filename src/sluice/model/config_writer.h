// A configuration as config.json has it: what config_reader.h reads comes back the same, and the programs
// that know the family find their keys.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "sluice/model/config.h"

namespace sluice {

nlohmann::ordered_json config_json(const ModelConfig& config);

}  // namespace sluice
