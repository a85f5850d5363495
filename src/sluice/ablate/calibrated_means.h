// What estimates of averaging put in the place of gates: the means that the action "mean" of a plan has.
#pragma once

#include "sluice/ablate/gate_estimates.h"

namespace sluice {

// Of every channel of every gate of the model, over the calibration text.
std::vector<GateMean> calibrated_means(const LoadedModel& model, const ChunkedText& calibration,
                                       const JobControl& control = {});

}  // namespace sluice
