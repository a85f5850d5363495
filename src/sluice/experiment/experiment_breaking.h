// Breaking what was trained, run by run, so that an effect has as many witnesses as there are seeds:
// interventions, the heads that make no difference, and what happens when those are removed and the model
// trains on.
#pragma once

#include <filesystem>
#include <vector>

#include "sluice/base/job_control.h"
#include "sluice/experiment/broken_run.h"
#include "sluice/experiment/experiment.h"
#include "sluice/ops/engine.h"

namespace sluice {

// Held-out sequences that a broken model is measured on.
inline constexpr int64_t kBrokenSequences = 64;

struct BreakingRequest {
  const BreakingPlan& plan;
  const std::vector<bool>& can_be_given;  // as the run's PlannedVariant has it
  double equal_loss = 0;
  std::filesystem::path run;
};

BrokenRun break_run(Engine& engine, const BreakingRequest& request, const JobControl& control = {});

}  // namespace sluice
