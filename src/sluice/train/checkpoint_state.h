// What a checkpoint holds beside the model: the optimiser, and where the run is. With it a run goes on
// bitwise as if it had never stopped.
#pragma once

#include <filesystem>

#include "sluice/train/hub_files.h"
#include "sluice/train/loss_monitor.h"
#include "sluice/train/trainer.h"

namespace sluice {

// Where the run is, apart from what the tensors say.
struct RunState {
  int64_t step = 0;                 // updates taken
  int64_t tokens = 0;               // seen
  int64_t epoch = 0, position = 0;  // of the data
  double seconds = 0;               // of training, over all sessions
  double best_loss = 0;             // on the validation text; meaningless before the first evaluation
  int64_t best_step = -1;
  int64_t stale_validations = 0;  // since the best one
  LossHistory losses = {};
  std::vector<int64_t> data = {};  // checksums of the shards
};

// Writes a model directory with optimizer.safetensors and state.json, which must not exist yet.
void write_checkpoint(const std::filesystem::path& directory, Trainer& trainer, const RunState& state,
                      const HubFiles& files);

// Bad input if a file is missing or damaged, a failure if the model is another; the trainer is then as it
// was.
RunState read_checkpoint(const std::filesystem::path& directory, Engine& engine, Trainer& trainer);

}  // namespace sluice
