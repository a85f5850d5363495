// Measured peaks of the machine, as doctor and bench show them.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sluice/kernels/measure.h"

namespace sluice::cli {

// Four digits: more would be noise.
double rounded(double value);

nlohmann::ordered_json peaks_json(const MachinePeaks& peaks);
std::string peaks_text(const MachinePeaks& peaks, int threads);

}  // namespace sluice::cli
