// A model directory whose weights a test makes up, parameter by parameter.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "sluice/model/config.h"
#include "sluice/nn/parameters.h"

namespace sluice {

using ParameterValues = std::function<std::vector<float>(const NamedParameter& named)>;

// As many values as the parameter's shape has.
void write_constructed_model(const std::filesystem::path& out, const ModelConfig& config,
                             const ParameterValues& values_of);

}  // namespace sluice
