// What a run will take, before it begins: counts, and time and memory tried out with a few sequences.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "sluice/base/job_control.h"
#include "sluice/ops/engine.h"
#include "sluice/train/run_config.h"

namespace sluice {

// Bytes are those of one rank, of which the busiest counts.
struct TrainingPlan {
  int64_t parameters = 0;
  int64_t steps = 0, tokens = 0;
  double flops = 0;  // of all steps
  int ranks = 1;
  int ranks_here = 1;           // on the first one's machine
  int64_t passes = 1;           // of a step, on a rank
  int64_t pass_tokens = 0;      // of a pass, at most
  int64_t state_bytes = 0;      // weights, gradients and both moments of AdamW, all f32
  int64_t kept_sums = 0;        // sums of gradients that wait for the next passes, beside the pass under way
  int64_t kept_bytes = 0;       // of these
  int64_t available_bytes = 0;  // of the first rank's machine, now

  // From warm steps on random tokens; none if the state alone does not fit.
  struct Trial {
    double seconds = 0;       // of the whole run, validation and checkpoints not counted
    double tokens_per_s = 0;  // of all ranks together
    // At the most, state and kept sums included; without the program itself and the files that it maps.
    int64_t memory_bytes = 0;
  };
  std::optional<Trial> trial = {};
};

nlohmann::ordered_json to_json(const TrainingPlan& plan);
std::string to_text(const TrainingPlan& plan);

// Trains for a few steps on random tokens and writes nothing. Every rank calls it, with a job that
// check_ranks() has let pass. Throws an Error of kind Interrupted if it is cancelled.
TrainingPlan plan_training(Engine& engine, const RunConfig& config, const JobControl& control = {},
                           const TrainerRanks& ranks = {});

}  // namespace sluice
