// A training plan as the command prints it.
#pragma once

#include "sluice/cli/command.h"
#include "sluice/train/training_plan.h"

namespace sluice::cli {

void print(const TrainingPlan& plan, const Session& session);

}  // namespace sluice::cli
