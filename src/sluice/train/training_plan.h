// What a run will take, before it begins: counts, and time and memory tried out with a few sequences.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "sluice/base/job_control.h"
#include "sluice/ops/engine.h"
#include "sluice/train/run_config.h"

namespace sluice {

struct TrainingPlan {
  int64_t parameters = 0;
  int64_t steps = 0, tokens = 0;
  double flops = 0;             // of all steps
  int64_t state_bytes = 0;      // weights, gradients and both moments of AdamW, all f32
  int64_t available_bytes = 0;  // of the machine, now

  // From warm steps on random tokens; none if the state alone does not fit.
  struct Trial {
    double seconds = 0;  // of the whole run, validation and checkpoints not counted
    double tokens_per_s = 0;
    int64_t memory_bytes = 0;  // at the most, state included
  };
  std::optional<Trial> trial = {};
};

nlohmann::ordered_json to_json(const TrainingPlan& plan);
std::string to_text(const TrainingPlan& plan);

// Trains for a few steps on random tokens and writes nothing. Throws an Error of kind Interrupted if it is
// cancelled.
TrainingPlan plan_training(Engine& engine, const RunConfig& config, const JobControl& control = {});

}  // namespace sluice
