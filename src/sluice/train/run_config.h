// What a run is: model, sizes, schedule, optimiser. Read from JSON, with changes from the command line.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sluice/base/json.h"
#include "sluice/data/packed_sequences.h"
#include "sluice/model/config.h"
#include "sluice/model/initialisation.h"
#include "sluice/train/trainer.h"

namespace sluice {

struct RunConfig {
  ModelConfig model;
  int64_t sequence = 256;       // tokens that a model sees at once
  int64_t batch_tokens = 4096;  // per update
  int64_t pass_tokens = 4096;   // per forward pass; fewer take less memory, and their gradients add up
  uint64_t seed = 0;
  Initialisation init = {};
  TrainerOptions trainer = {};

  struct Validation {
    double share = 0.02;     // of the documents, or of the tokens
    int64_t every = 100;     // steps
    int64_t sequences = 16;  // at most
    SplitRule split = SplitRule::Auto;
    uint64_t seed = 0;  // of the documents that are kept out: not the run's, so that runs can be compared
  } validation;

  struct Checkpoints {
    int64_t every = 100;                    // steps
    int64_t keep = 2;                       // newest ones; the best is kept besides
    int64_t file_bytes = int64_t{5} << 30;  // of tensors in a file; what is larger is cut into several
  } checkpoints;

  // What ends a run before its last step; 0: nothing. It is saved, and can go on when resumed.
  struct Stop {
    double minutes = 0;    // of one session, everything counted
    int64_t patience = 0;  // validations in a row without a better loss
  } stop;

  // Text that the model goes on with at every validation; an empty prompt: none.
  struct Sample {
    std::string prompt = {};
    int64_t tokens = 40;
  } sample;

  int64_t steps() const { return trainer.schedule.steps; }
};

// `model` is a preset's name, a path, or the configuration itself. Unknown keys are refused with the nearest
// one.
RunConfig read_run_config(const Json& json);

// As it was understood, every default written out: what a run directory keeps.
nlohmann::ordered_json run_config_json(const RunConfig& config);

// With changes "a.b=value" made to it; values are JSON, or text if they are not. "model.x=value" reaches into
// a model that is only named.
RunConfig read_run_config(const Json& json, const std::vector<std::string>& changes);

// The same of a file, or of a preset by its name (train/run_presets.h).
RunConfig load_run_config(const std::string& path, const std::vector<std::string>& changes);

}  // namespace sluice
