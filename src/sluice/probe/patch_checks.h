// What patching refuses. For probe/patch.cpp alone.
#pragma once

#include "sluice/probe/patch.h"

namespace sluice {

// Usage errors about the prompts and the answers, before anything runs.
void check_patch_request(const LoadedModel& model, const PatchRequest& request);

// A usage error if the logit differences of the two prompts leave nothing to recover.
void check_patch_differences(double clean, double corrupted);

}  // namespace sluice
