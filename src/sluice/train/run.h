// A training run from its first step, or the one where it stopped, to its last: steps, validation,
// checkpoints, metrics. Several ranks run it together: they decide everything alike, and the first one alone
// has the run's directory.
#pragma once

#include <functional>

#include "sluice/base/job_control.h"
#include "sluice/base/stopwatch.h"
#include "sluice/data/batches.h"
#include "sluice/data/held_out.h"
#include "sluice/dist/slow_rank.h"
#include "sluice/train/hub_files.h"
#include "sluice/train/loss_monitor.h"
#include "sluice/train/run_config.h"
#include "sluice/train/run_directory.h"

namespace sluice {

// What a run is made of. All but the shards must outlive it.
struct RunParts {
  Engine& engine;
  const RunConfig& config;
  RunDirectory* directory;  // says whether the run is new or resumed; of the first rank alone
  std::vector<TokenShard> shards;
  const JobControl& control;
  std::vector<TokenShard> validation = {};  // text for that alone; none: a share of the shards is kept out
  TrainerRanks ranks = {};
  std::filesystem::path path = {};  // of the directory, for messages of every rank
};

// Who watches a run; called on its thread.
struct RunObserver {
  // Once, before the first step of this session.
  std::function<void(const RunConfig&, const RunState&)> started = {};
  std::function<void(const StepResult&, const RunState&)> stepped = {};
  std::function<void(const Validation&)> validated = {};
};

// Training and validation text of a run.
struct RunText {
  PackedSequences training;
  std::optional<PackedSequences> validation;  // none: no text is kept for it
};

// Bad input if the shards are too small for a sequence of each split, or do not fit the model or each other.
RunText text_of(const RunConfig& config, const std::vector<TokenShard>& shards,
                const std::vector<TokenShard>& validation = {});

// The record of what text_of() keeps out; none if it is nothing.
std::optional<HeldOut> held_out_of(const RunConfig& config, const std::vector<TokenShard>& shards,
                                   const std::vector<TokenShard>& validation = {});

// A loss that is not finite or stays far above that of an untrained model (train/loss_monitor.h), or no
// gradient at all. Trying again gives the same.
class Divergence : public Error {
 public:
  using Error::Error;
};

enum class RunEnd {
  Finished,
  OutOfTime,   // stop.minutes
  NoProgress,  // stop.patience
  Interrupted  // cancelled by the caller, on whichever rank
};

// "finished", "out of time".
std::string_view name_of(RunEnd end);

class Run {
 public:
  explicit Run(const RunParts& parts) : Run(parts, text_of(parts.config, parts.shards, parts.validation)) {}

  // Until the last step or a reason to stop before it; then the step is finished and saved. Throws a
  // Divergence that names the last good checkpoint.
  RunEnd train(const RunObserver& observer = {});

  const RunState& state() const { return state_; }

  // The last one, of this session or of those before it.
  const std::optional<Validation>& validation() const { return validation_; }

 private:
  Run(const RunParts& parts, RunText text);

  void resume();
  void go_on_from(const RunState& state);
  Divergence diverged(const std::string& what) const;
  StepResult step();
  // This rank's share of the next step's text, and its place in it.
  std::vector<Batch> next_batches(OwnPasses& own);
  std::string origin_of(std::span<const Batch> batches);
  void tell_slow_rank(const StepResult& result);
  void validate(const RunObserver& observer);
  void remember_if_best(double validation_loss);
  void save();
  bool is_due(int64_t every) const;
  void append_metrics(const nlohmann::ordered_json& line);
  void name_last_checkpoint();
  std::optional<RunEnd> own_reason_to_stop() const;
  std::optional<RunEnd> reason_to_stop();

  Engine& engine_;
  RunConfig config_;
  RunDirectory* directory_;
  std::filesystem::path path_;
  Ranks& ranks_;
  const JobControl& control_;
  Stopwatch session_;
  int64_t session_steps_ = 0;
  Decoder decoder_;
  Trainer trainer_;
  BatchLoader loader_;
  std::optional<Validator> validator_;  // none: no text is kept for it
  std::optional<Validation> validation_;
  HubFiles files_;
  LossMonitor monitor_;
  SlowRankWatch slow_ranks_;
  RunState state_;
  int64_t saved_step_ = -1;
};

}  // namespace sluice
