// What a checkpoint holds beside the model: the optimiser, and where the run is. With it a run goes on
// bitwise as if it had never stopped.
#pragma once

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "sluice/base/json.h"
#include "sluice/io/safetensors_shards.h"
#include "sluice/io/tensor_store.h"
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

nlohmann::ordered_json state_json(const RunState& state);
RunState read_state(const Json& json);

// Writes a model directory with what the optimiser remembers and state.json, which must not exist yet. Every
// rank calls it, since each has a part of the optimiser's state; the first one writes, a tensor at a time, so
// that it needs no room for all of it, and no other rank has to see the directory. Tensors of more than
// `file_bytes` are cut into several files.
void write_checkpoint(const std::filesystem::path& directory, Trainer& trainer, const RunState& state,
                      const HubFiles& files, size_t file_bytes = ShardOptions().max_bytes);

// What is read of a checkpoint before anything is changed.
struct StoredCheckpoint {
  RunState state;
  std::vector<Tensor> values;                    // F32, by parameter
  std::shared_ptr<const TensorStore> optimizer;  // checked; its tensors are read when their turn comes
};

// Bad input if a file is missing or damaged, a failure if the model is another.
StoredCheckpoint read_checkpoint(const std::filesystem::path& directory, Engine& engine,
                                 const Decoder& decoder);

// Goes on from a checkpoint that the first rank has read, and all take up; the others give none.
RunState restore_checkpoint(Engine& engine, Trainer& trainer, std::optional<StoredCheckpoint> stored);

}  // namespace sluice
