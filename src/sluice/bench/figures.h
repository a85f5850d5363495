// How measured figures are written.
#pragma once

#include <string>
#include <string_view>

#include "sluice/ops/context.h"

namespace sluice::bench {

// To four digits: more would be noise.
double rounded(double value);
std::string figure(double value);  // "113.1", "0.02187"

// "name            value\n", the values below each other.
std::string line(std::string_view name, std::string_view value);

std::string_view name_of(Precision precision);  // "bf16"

}  // namespace sluice::bench
