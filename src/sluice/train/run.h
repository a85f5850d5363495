// A training run from its first step, or the one where it stopped, to its last: steps, validation,
// checkpoints, metrics.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>

#include "sluice/base/log.h"
#include "sluice/data/batches.h"
#include "sluice/train/run_config.h"
#include "sluice/train/run_directory.h"
#include "sluice/train/spike_monitor.h"

namespace sluice {

struct RunInputs {
  std::vector<TokenShard> shards;
  std::filesystem::path tokenizer = {};  // goes into every checkpoint; none: tokens are bytes
  RunStart start = RunStart::New;
};

// What the caller adds to a run.
struct RunHooks {
  // After every step.
  std::function<void(const StepResult&, const RunState&)> stepped = {};
  // Further figures for a line of validation; sees the validation sequences.
  std::function<nlohmann::ordered_json(Decoder&, const PackedSequences&)> measure = {};
  // The line of metrics that a validation wrote.
  std::function<void(const nlohmann::ordered_json&)> validated = {};
};

// Bad input if the shards are too small for a sequence of each split, or do not fit the model. Run() does not
// look again.
void check_data(const RunConfig& config, const std::vector<TokenShard>& shards);

enum class RunEnd { Finished, Interrupted };

class Run {
 public:
  Run(Engine& engine, const RunConfig& config, RunDirectory& directory, const RunInputs& inputs, Log& log);

  // Until the last step or until the user wants to stop; then the step is finished and saved. A loss that is
  // not finite is a failure that names the last good checkpoint.
  RunEnd train(const RunHooks& hooks);

  Decoder& decoder() { return decoder_; }
  const RunState& state() const { return state_; }
  const PackedSequences* validation() const { return validation_ ? &*validation_ : nullptr; }

 private:
  void resume();
  std::optional<RunState> read_if_whole(int64_t step);
  Error diverged(const std::string& what) const;
  StepResult step();
  void validate(const RunHooks& hooks);
  void save();
  bool is_due(int64_t every) const;

  Engine& engine_;
  RunConfig config_;
  RunDirectory& directory_;
  RunInputs inputs_;
  Log& log_;
  Decoder decoder_;
  Trainer trainer_;
  BatchLoader loader_;
  std::optional<PackedSequences> validation_;
  SpikeMonitor monitor_;
  RunState state_;
  int64_t saved_step_ = -1;
};

}  // namespace sluice
