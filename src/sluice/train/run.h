// A training run from its first step, or the one where it stopped, to its last: steps, validation,
// checkpoints, metrics.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>

#include "sluice/base/error.h"
#include "sluice/base/log.h"
#include "sluice/base/stopwatch.h"
#include "sluice/data/batches.h"
#include "sluice/train/loss_monitor.h"
#include "sluice/train/run_config.h"
#include "sluice/train/run_directory.h"

namespace sluice {

// What a run is made of. All but the shards must outlive it.
struct RunParts {
  Engine& engine;
  const RunConfig& config;
  RunDirectory& directory;  // says whether the run begins or goes on
  std::vector<TokenShard> shards;
  Log& log;
};

// What the caller adds to a run.
struct RunHooks {
  // After every step.
  std::function<void(const StepResult&, const RunState&)> stepped = {};
  // The line of metrics that a validation wrote.
  std::function<void(const nlohmann::ordered_json&)> validated = {};
  // Further figures for a line of validation; sees the validation sequences.
  std::function<nlohmann::ordered_json(Decoder&, const PackedSequences&)> measure = {};
};

// Bad input if the shards are too small for a sequence of each split, or do not fit the model. Run() does not
// look again.
void check_data(const RunConfig& config, const std::vector<TokenShard>& shards);

// A loss that is not finite or stays far above that of an untrained model (train/loss_monitor.h), or no
// gradient at all. Trying again gives the same.
class Divergence : public Error {
 public:
  using Error::Error;
};

enum class RunEnd {
  Finished,
  Interrupted,  // by the user
  OutOfTime,    // stop.minutes
  NoProgress    // stop.patience
};

class Run {
 public:
  explicit Run(const RunParts& parts);

  // Until the last step or a reason to stop before it; then the step is finished and saved. Throws a
  // Divergence that names the last good checkpoint.
  RunEnd train(const RunHooks& hooks);

  Decoder& decoder() { return decoder_; }
  const RunState& state() const { return state_; }
  const PackedSequences* validation() const { return validation_ ? &*validation_ : nullptr; }

 private:
  void resume();
  std::optional<RunState> read_if_whole(int64_t step);
  bool is_of_these_data(const RunState& state) const;
  void check_follows(const RunState& state, int64_t step) const;
  Divergence diverged(const std::string& what) const;
  StepResult step();
  void validate(const RunHooks& hooks);
  void save();
  bool is_due(int64_t every) const;
  std::optional<RunEnd> reason_to_stop() const;

  Engine& engine_;
  RunConfig config_;
  RunDirectory& directory_;
  Log& log_;
  Stopwatch session_;
  int64_t session_steps_ = 0;
  Decoder decoder_;
  Trainer trainer_;
  BatchLoader loader_;
  std::optional<PackedSequences> validation_;
  LossMonitor monitor_;
  RunState state_;
  int64_t saved_step_ = -1;
};

}  // namespace sluice
