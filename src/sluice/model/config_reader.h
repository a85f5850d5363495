// config.json → ModelConfig.
#pragma once

#include <filesystem>

#include "sluice/base/job_control.h"
#include "sluice/base/json.h"
#include "sluice/model/config.h"

namespace sluice {

// Reads a config.json in the Hugging Face layout. Unknown model types, keys that change the computation,
// layer kinds that do not exist here and contradictory values are bad input that says where. What happens to
// each key: config_keys.h.
ModelConfig read_model_config(const Json& json);

// From a file, from the config.json in a model or run directory, or a preset by its name (model/presets.h).
Json load_model_json(const std::filesystem::path& path);

// The same understood. A run's directory stands for its best checkpoint; the control is told which, and of
// keys that nobody here knows.
ModelConfig load_model_config(const std::filesystem::path& path, const JobControl& control = {});

}  // namespace sluice
