// How the commands that train show a run on stderr, and let Ctrl-C end it.
#pragma once

#include <optional>

#include "sluice/cli/command.h"
#include "sluice/cli/progress.h"
#include "sluice/experiment/sweep.h"
#include "sluice/train/training.h"

namespace sluice::cli {

// A bar with loss, speed and share of the machine's peak behind it, and a line for each validation. Several
// runs may follow one another.
class TrainingDisplay {
 public:
  TrainingDisplay(Engine& engine, Log& log) : engine_(engine), log_(log) {}

  // Both refer to the display.
  RunObserver observer();
  SweepObserver sweep_observer();

  // Messages between two runs: the bar is taken away first.
  template <typename... Args>
  void info(fmt::format_string<Args...> format, Args&&... args) {
    bar_.reset();
    log_.info(format, std::forward<Args>(args)...);
  }
  template <typename... Args>
  void warn(fmt::format_string<Args...> format, Args&&... args) {
    bar_.reset();
    log_.warn(format, std::forward<Args>(args)...);
  }

 private:
  void start(const RunConfig& config, const RunState& state);
  void step(const StepResult& result, const RunState& state);
  void show(const Validation& validation);
  double peak();

  Engine& engine_;
  Log& log_;
  std::optional<Progress> bar_;
  Precision precision_ = Precision::F32;
  double flops_per_token_ = 0;
  int64_t session_steps_ = 0;
  double seconds_ = 0;       // of the run, as of its last step
  double step_seconds_ = 0;  // running mean; 0: no step was timed yet
  double peak_ = 0;          // FLOP/s; 0: not measured yet
};

// A run with a display of its own, which is gone when it ends.
TrainingOutcome train_shown(Engine& engine, const TrainingJob& job, const Session& session);

// Stopped by Ctrl-C; messages go to the session's log.
JobControl training_control(const Session& session);

}  // namespace sluice::cli
