// The runs of configs/runs, built into the library.
#pragma once

#include "sluice/model/presets.h"

namespace sluice {

// Sorted by name. Defined in a source that the build makes from the files.
std::span<const Preset> run_presets();

}  // namespace sluice
