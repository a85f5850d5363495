// Which taps a model has.
#pragma once

#include <string>

#include "sluice/model/config.h"
#include "sluice/nn/tap_points.h"
#include "sluice/probe/tap_pattern.h"

namespace sluice {

// Not every layer has every point: gates and experts may be anywhere, or nowhere.
bool has_point(const TapPoint& point, int64_t layer, const ModelConfig& config);

// Whether a layer that the pattern means has it.
bool has_point(const TapPoint& point, const TapPattern& pattern, const ModelConfig& config);

// "the model has no gate there": what is missing where a pattern means no point that there is.
std::string missing_point(const TapPattern& pattern, const ModelConfig& config);

}  // namespace sluice
