// What a plan takes, before it runs: arithmetic of each run on its own and of what remains when runs share
// what they have in common, and the memory that sharing needs.
#pragma once

#include <vector>

#include "sluice/ablate/plan.h"
#include "sluice/ablate/plan_runner.h"

namespace sluice {

// Floating-point operations for one chunk, a multiply-add counted as two; products with weights and
// attention.
struct RunCost {
  double naive = 0;   // the whole model
  double shared = 0;  // from the first value on that the run may change; 0 if it is equal to an earlier one
};

struct PlanCost {
  RunCost base;               // of the unbroken model: the same either way
  std::vector<RunCost> runs;  // in the order of the plan
  // Beyond base and runs: what is computed once more because not all runs fit into memory together.
  double repeated = 0;
  int64_t memory = 0;  // bytes beside the weights

  double naive() const;   // the unbroken model and every run, each on its own
  double shared() const;  // the bound that shared execution is measured against
};

struct PlanCostRequest {
  int64_t tokens = 511;     // that a chunk feeds
  int64_t predicted = 511;  // of them: those whose next token counts
  PlanRunnerOptions runner = {};
};

PlanCost plan_cost(const AblationPlan& plan, const ModelConfig& config, const PlanCostRequest& request = {});

}  // namespace sluice
