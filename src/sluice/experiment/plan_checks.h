// What must hold of an experiment's plan before anything is trained: whatever cannot be compared, or not be
// broken as it is planned, is refused with the key that says so.
#pragma once

#include <span>
#include <vector>

#include "sluice/experiment/experiment_plan.h"
#include "sluice/train/run_config.h"

namespace sluice {

// The configurations are those of the variants.
void check_plan(const Experiment& experiment, std::span<const PlannedVariant> planned,
                std::span<const RunConfig> configs);

// Whether each of the models has all that an intervention of the experiment changes: gates may be in some
// layers or in none, and layers as many as there are. Bad input for one that no model takes, or that meets no
// token.
std::vector<bool> models_given(const Experiment& experiment, size_t intervention,
                               std::span<const RunConfig> configs);

}  // namespace sluice
