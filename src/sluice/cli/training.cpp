#include "sluice/cli/training.h"

#include <fmt/format.h>

#include "sluice/base/interrupt.h"
#include "sluice/bench/measure.h"
#include "sluice/model/count.h"

namespace sluice::cli {

RunObserver TrainingDisplay::observer() {
  return {.started = [this](const RunConfig& config, const RunState& state) { start(config, state); },
          .stepped = [this](const StepResult& result, const RunState& state) { step(result, state); },
          .validated = [this](const Validation& validation) { show(validation); }};
}

SweepObserver TrainingDisplay::sweep_observer() {
  SweepObserver watching{.run = observer()};
  watching.run_begins = [this](const SweepObserver::NextRun& next) {
    info("run {} of {}: {}, seed {}", next.number, next.total, next.variant, next.seed);
  };
  watching.run_diverged = [this](const SweepRun& run, const Divergence& divergence) {
    warn("{}: {}", run.directory.string(), divergence.what());
  };
  return watching;
}

void TrainingDisplay::start(const RunConfig& config, const RunState& state) {
  bar_.emplace(log_, "steps", config.steps() - state.step);
  precision_ = config.trainer.precision;
  flops_per_token_ = training_flops_per_token(config.model, config.sequence);
  session_steps_ = 0;
  seconds_ = step_seconds_ = peak_ = 0;
}

void TrainingDisplay::step(const StepResult& result, const RunState& state) {
  const double seconds = state.seconds - seconds_;
  seconds_ = state.seconds;
  // The first difference after a resume holds all sessions before it.
  if (session_steps_++ > 0 || state.step == 1)
    step_seconds_ = step_seconds_ == 0 ? seconds : 0.9 * step_seconds_ + 0.1 * seconds;
  if (bar_->will_show() && step_seconds_ > 0) {
    const double rate = static_cast<double>(result.tokens) / step_seconds_;
    bar_->note(fmt::format("loss {:.4f}, {:.0f} tokens/s, {:.2f} of the peak", result.loss, rate,
                           rate * flops_per_token_ / peak()));
  }
  bar_->done(1);
}

void TrainingDisplay::show(const Validation& validation) {
  const Pulse& pulse = validation.pulse;
  log_.info("step {}: validation loss {:.4f}, sink {:.4f} (uniform: {:.4f}), largest activation {:.2f}{}",
            validation.step, validation.loss, pulse.sink, pulse.sink_floor, pulse.max_activation,
            validation.sample ? fmt::format("; \"{}\"", *validation.sample) : "");
}

// Measured when it is first shown: short runs need not wait for it.
double TrainingDisplay::peak() {
  if (peak_ == 0)
    peak_ = bench::peak_meter(engine_).measure(bench::arithmetic_bound(engine_, precision_).peak);
  return peak_;
}

TrainingOutcome train_shown(Engine& engine, const TrainingJob& job, const Session& session) {
  TrainingDisplay display(engine, session.log);
  return run_training(engine, job, training_control(session), display.observer());
}

JobControl training_control(const Session& session) {
  return {.cancelled = is_interrupted, .log = &session.log};
}

}  // namespace sluice::cli
