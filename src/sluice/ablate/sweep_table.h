// The result of a sweep as tables. In the text and in to_json() a variant is a row, with intervals over its
// seeds and its differences from the first variant, paired by seed; in the CSV a run is one.
#pragma once

#include <string>

#include "sluice/ablate/sweep.h"

namespace sluice {

std::string to_text(const SweepResult& result);
std::string sweep_csv(const SweepResult& result);

}  // namespace sluice
