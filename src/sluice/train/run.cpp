#include "sluice/train/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sluice/data/tokenizer_match.h"
#include "sluice/infer/nonfinite_tap.h"
#include "sluice/train/metrics.h"

namespace sluice {
namespace {

SplitOptions split_options(const RunConfig& config) {
  const RunConfig::Validation& validation = config.validation;
  return {.validation_share = validation.share, .seed = validation.seed, .rule = validation.split};
}

PackedSequences whole(const RunConfig& config, const std::vector<TokenShard>& shards) {
  return PackedSequences(shards, {.length = config.sequence});
}

PackedSequences part(const RunConfig& config, const std::vector<TokenShard>& shards, Split split) {
  return PackedSequences(shards,
                         {.length = config.sequence, .split = split, .kept_out = split_options(config)});
}

RunText split_text(const RunConfig& config, const std::vector<TokenShard>& shards,
                   const std::vector<TokenShard>& validation) {
  if (!validation.empty())
    return {.training = whole(config, shards), .validation = whole(config, validation)};
  RunText text{.training = part(config, shards, Split::Training), .validation = {}};
  if (config.validation.share > 0) text.validation = part(config, shards, Split::Validation);
  return text;
}

}  // namespace

RunText text_of(const RunConfig& config, const std::vector<TokenShard>& shards,
                const std::vector<TokenShard>& validation) {
  RunText text = split_text(config, shards, validation);
  std::vector<TokenShard> all = shards;
  all.insert(all.end(), validation.begin(), validation.end());
  check_one_tokenizer(all);
  check_fits(all, config.model.vocabulary);
  return text;
}

std::optional<HeldOut> held_out_of(const RunConfig& config, const std::vector<TokenShard>& shards,
                                   const std::vector<TokenShard>& validation) {
  if (!validation.empty()) return held_out_whole(validation, config.sequence);
  if (config.validation.share == 0) return {};
  return held_out_of(shards, config.sequence, split_options(config));
}

std::string_view name_of(RunEnd end) {
  switch (end) {
    case RunEnd::Finished:
      return "finished";
    case RunEnd::Interrupted:
      return "interrupted";
    case RunEnd::OutOfTime:
      return "out of time";
    case RunEnd::NoProgress:
      return "no progress";
  }
  return "?";
}

Run::Run(const RunParts& parts, RunText text)
    : engine_(parts.engine),
      config_(parts.config),
      directory_(parts.directory),
      control_(parts.control),
      decoder_(config_.model),
      trainer_(engine_, decoder_, config_.trainer),
      loader_(std::move(text.training),
              {.batch = config_.pass_tokens / config_.sequence, .seed = config_.seed}),
      files_(hub_files(config_.model, directory_.tokenizer())),
      monitor_(config_.model.vocabulary) {
  if (text.validation) validator_.emplace(config_, *std::move(text.validation), directory_.tokenizer());
  decoder_.initialise(engine_, Random(config_.seed), config_.init);
  for (const auto& shards : {parts.shards, parts.validation})
    for (const TokenShard& shard : shards) state_.data.push_back(shard.info().checksum);
  if (directory_.start() == RunStart::Resume) resume();
}

void Run::resume() {
  const std::vector<int64_t> steps = directory_.checkpoint_steps();
  std::vector<int64_t> damaged;
  for (const int64_t step : steps) {
    const std::optional<RunState> state = read_if_whole(step);
    if (!state) {
      damaged.push_back(step);
      continue;
    }
    if (!has_same_data(*state)) {
      throw bad_input({.where = directory_.path().string(),
                       .what = "the data are not those that the run began with",
                       .hint = "give the same files in the same order"});
    }
    // Only now, when another checkpoint has proved good: the damaged ones will be written again.
    for (const int64_t each : damaged) directory_.set_aside(each);
    return go_on_from(*state);
  }
  if (!steps.empty()) {
    throw failure({.where = directory_.path().string(), .what = "none of its checkpoints can be used"});
  }
  control_.info("stopped before its first checkpoint: starting from the beginning");
  directory_.cut_metrics(0);
}

void Run::go_on_from(const RunState& state) {
  loader_.seek({.epoch = state.epoch, .index = state.position});
  const std::vector<int64_t> data = std::move(state_.data);
  state_ = state;
  state_.data = data;
  monitor_ = LossMonitor(config_.model.vocabulary, state_.losses);
  saved_step_ = state_.step;
  directory_.cut_metrics(state_.step);
  validation_ = directory_.last_validation();
  control_.info("going on after step {}", state_.step);
}

bool Run::has_same_data(const RunState& state) const {
  return state.data.empty() || state.data == state_.data;  // checkpoints of version 0.1.0 do not say
}

// Bad input unless the state is one that this run has at that step: the place in the data follows from it.
void Run::check_follows(const RunState& state, int64_t step) const {
  const std::string where = directory_.checkpoint(step).string();
  const auto expect = [&](const char* key, int64_t expected, int64_t got) {
    if (got == expected) return;
    throw bad_input({.where = fmt::format("{}: {}", where, key),
                     .what = "cannot be",
                     .expected = std::to_string(expected),
                     .got = std::to_string(got)});
  };
  const int64_t sequences = state.step * (config_.batch_tokens / config_.sequence);
  const int64_t in_epoch = loader_.sequences().count();
  expect("step", step, state.step);
  expect("tokens", state.step * config_.batch_tokens, state.tokens);
  expect("epoch", sequences / in_epoch, state.epoch);
  expect("position", sequences % in_epoch, state.position);
  if (state.best_step > step) expect("best_step", step, state.best_step);
}

// None, with a warning, if a file of the checkpoint is missing or damaged.
std::optional<RunState> Run::read_if_whole(int64_t step) {
  try {
    const RunState state = read_checkpoint(directory_.checkpoint(step), engine_, trainer_);
    if (has_same_data(state)) check_follows(state, step);
    return state;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::BadInput) throw;
    control_.warn("a checkpoint is skipped: {}", error.what());
    return {};
  }
}

bool Run::is_due(int64_t every) const {
  return state_.step % every == 0 || state_.step == config_.steps();
}

Divergence Run::diverged(const std::string& what) const {
  const std::vector<int64_t> steps = directory_.checkpoint_steps();
  const auto good = std::ranges::find_if(
      steps, [&](int64_t step) { return step <= state_.step - monitor_.history().far_steps; });
  const std::string saved = good == steps.end() ? ""
                                                : fmt::format("; the last good checkpoint is {}",
                                                              directory_.checkpoint(*good).string());
  return {ErrorKind::Failed,
          {.where = fmt::format("after step {}", state_.step),
           .what = what,
           .hint = fmt::format("a lower learning rate may help{}", saved)}};
}

// Where that began, if it was on the way to the loss; a gradient may be the first. Nothing was updated, so
// the same happens again.
std::string Run::origin_of(std::span<const Batch> batches) {
  const Context context{.engine = engine_, .precision = config_.trainer.precision};
  for (const Batch& batch : batches) {
    const Sequences sequences = Sequences::equal(batch.sequences, batch.length);
    if (const auto tap = first_nonfinite_tap(context, decoder_, batch.inputs, sequences))
      return fmt::format("; the first value that is not: {}", *tap);
  }
  return "";
}

StepResult Run::step() {
  std::vector<Batch> batches;
  for (int64_t passes = config_.batch_tokens / config_.pass_tokens; passes > 0; --passes)
    batches.push_back(loader_.next());
  const Stopwatch watch;
  const StepResult result = trainer_.step(batches);
  if (result.gradient_norm == 0) throw diverged("the gradient is zero: nothing can be learnt any more");
  if (!result.is_finite()) {
    throw diverged(fmt::format("loss {} and gradient norm {} are not finite{}", result.loss,
                               result.gradient_norm, origin_of(batches)));
  }
  state_.seconds += watch.seconds();
  ++state_.step;
  ++session_steps_;
  state_.tokens += result.tokens;
  monitor_.add(result.loss);
  state_.losses = monitor_.history();
  return result;
}

void Run::validate(const RunObserver& observer) {
  if (!validator_) return;
  const Validation validation = validator_->validate(engine_, decoder_, state_.step);
  if (!std::isfinite(validation.loss))
    throw diverged(fmt::format("validation loss {} is not finite", validation.loss));
  directory_.append_metrics(to_json(validation));
  validation_ = validation;
  if (observer.validated) observer.validated(validation);
  remember_if_best(validation.loss);
}

void Run::remember_if_best(double validation_loss) {
  ++state_.stale_validations;
  if (monitor_.is_far()) return;  // a model that is perhaps lost is not the best, even if it is the first
  if (state_.best_step >= 0 && validation_loss >= state_.best_loss) return;
  state_.stale_validations = 0;
  state_.best_loss = validation_loss;
  state_.best_step = state_.step;
}

void Run::save() {
  if (saved_step_ == state_.step) return;
  state_.epoch = loader_.position().epoch;
  state_.position = loader_.position().index;
  directory_.sync_metrics();  // a checkpoint is never newer than its metrics
  write_checkpoint(directory_.checkpoint(state_.step), trainer_, state_, files_);
  saved_step_ = state_.step;
  directory_.point("latest", state_.step);
  if (state_.best_step == state_.step) directory_.point("best", state_.step);
  // A model that is perhaps lost replaces no other.
  if (!monitor_.is_far()) directory_.prune(config_.checkpoints.keep, state_.best_step);
}

std::optional<RunEnd> Run::reason_to_stop() const {
  if (control_.is_cancelled()) return RunEnd::Interrupted;
  if (config_.stop.patience > 0 && state_.stale_validations >= config_.stop.patience)
    return RunEnd::NoProgress;
  const double minutes = session_.seconds() / 60;
  // A step at least, or sessions that are too short would never get anywhere.
  if (config_.stop.minutes > 0 && minutes >= config_.stop.minutes && session_steps_ > 0)
    return RunEnd::OutOfTime;
  return {};
}

RunEnd Run::train(const RunObserver& observer) {
  const int64_t steps_left = config_.steps() - state_.step;
  if (observer.started) observer.started(config_, state_);
  while (state_.step < config_.steps()) {
    if (const auto end = reason_to_stop()) {
      save();
      return *end;
    }
    const StepResult result = step();
    directory_.append_metrics(step_line(result, state_));
    if (observer.stepped) observer.stepped(result, state_);
    control_.report("steps", session_steps_, steps_left);
    if (monitor_.has_diverged()) {
      throw diverged(
          fmt::format("the loss has been above {:.4g} for {} steps: twice that of an untrained model",
                      monitor_.far(), LossMonitor::kFarSteps));
    }
    const bool validates = is_due(config_.validation.every);
    if (validates) validate(observer);
    const bool best = validates && state_.best_step == state_.step;
    // While the loss is far, the newest checkpoint is to stay one from before; the last step is saved anyway.
    const bool worth_saving = !monitor_.is_far() || state_.step == config_.steps();
    if (best || (worth_saving && is_due(config_.checkpoints.every))) save();
  }
  return RunEnd::Finished;
}

}  // namespace sluice
