#include "sluice/train/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sluice/infer/nonfinite_tap.h"
#include "sluice/train/metrics.h"
#include "sluice/train/run_resume.h"

namespace sluice {
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
      path_(parts.path),
      ranks_(parts.ranks.ranks),
      control_(parts.control),
      decoder_(config_.model),
      trainer_(engine_, decoder_, config_.trainer, parts.ranks),
      loader_(std::move(text.training),
              {.batch = config_.pass_tokens / config_.sequence, .seed = config_.seed}),
      monitor_(config_.model.vocabulary) {
  const std::filesystem::path tokenizer = directory_ != nullptr ? directory_->tokenizer() : "";
  if (directory_ != nullptr) files_ = hub_files(config_.model, tokenizer);
  if (text.validation) validator_.emplace(config_, *std::move(text.validation), tokenizer);
  decoder_.initialise(engine_, Random(config_.seed), config_.init);
  for (const auto& shards : {parts.shards, parts.validation})
    for (const TokenShard& shard : shards) state_.data.push_back(shard.info().checksum);
  const bool resumes = directory_ != nullptr && directory_->start() == RunStart::Resume;
  if (agree_on_largest(ranks_, resumes ? 1 : 0) == 1) resume();
  name_last_checkpoint();
}

void Run::resume() {
  std::optional<StoredCheckpoint> stored;
  together(ranks_, [&] {
    if (directory_ == nullptr) return;
    stored = newest_checkpoint({.engine = engine_,
                                .config = config_,
                                .decoder = decoder_,
                                .directory = *directory_,
                                .epoch_sequences = loader_.sequences().count(),
                                .data = state_.data},
                               control_);
  });
  if (agree_on_largest(ranks_, stored ? 1 : 0) == 1)
    return go_on_from(restore_checkpoint(engine_, trainer_, std::move(stored)));
  control_.info("stopped before its first checkpoint: starting from the beginning");
  if (directory_ != nullptr) directory_->cut_metrics(0);
}

void Run::go_on_from(const RunState& state) {
  loader_.seek({.epoch = state.epoch, .index = state.position});
  const std::vector<int64_t> data = std::move(state_.data);
  state_ = state;
  state_.data = data;
  monitor_ = LossMonitor(config_.model.vocabulary, state_.losses);
  saved_step_ = state_.step;
  if (directory_ != nullptr) {
    directory_->cut_metrics(state_.step);
    validation_ = directory_->last_validation();
  }
  control_.info("going on after step {}", state_.step);
}

// For whoever notices that a rank is lost.
void Run::name_last_checkpoint() {
  ranks_.remember(saved_step_ < 0
                      ? "there is no checkpoint yet"
                      : fmt::format("the last checkpoint, of step {}, is whole; --resume goes on in {}",
                                    saved_step_, path_.string()));
}

bool Run::is_due(int64_t every) const {
  return state_.step % every == 0 || state_.step == config_.steps();
}

Divergence Run::diverged(const std::string& what) const {
  std::string saved;
  if (directory_ != nullptr) {
    const std::vector<int64_t> steps = directory_->checkpoint_steps();
    const auto good = std::ranges::find_if(
        steps, [&](int64_t step) { return step <= state_.step - monitor_.history().far_steps; });
    if (good != steps.end())
      saved = fmt::format("; the last good checkpoint is {}", directory_->checkpoint(*good).string());
  }
  return {ErrorKind::Failed,
          {.where = fmt::format("after step {}", state_.step),
           .what = what,
           .hint = fmt::format("a lower learning rate may help{}", broadcast(ranks_, saved))}};
}

// Where that began, if it was on the way to the loss; a gradient may be the first. Nothing was updated, so
// the same happens again.
std::string Run::origin_of(std::span<const Batch> batches) {
  const Context context{.engine = engine_, .precision = config_.trainer.precision};
  trainer_.complete_weights();
  std::string origin;
  for (const Batch& batch : batches) {
    const Sequences sequences = Sequences::equal(batch.sequences, batch.length);
    const auto tap = first_nonfinite_tap(context, decoder_, batch.inputs, sequences);
    if (!tap) continue;
    origin = fmt::format("; the first value that is not: {}", *tap);
    break;
  }
  for (const std::string& each : all_gather(ranks_, origin))
    if (!each.empty()) return each;
  return "";
}

std::vector<Batch> Run::next_batches(OwnPasses& own) {
  const int64_t of_pass = config_.pass_tokens / config_.sequence;
  const int64_t of_step = config_.batch_tokens / config_.sequence;
  own.total = config_.batch_tokens / config_.pass_tokens;
  own.tokens = config_.batch_tokens;
  Range share;  // sequences of the step
  if (trainer_.order() == ReduceOrder::Exact) {
    const Range passes = share_of(own.total, ranks_.rank(), ranks_.size());
    own.first = passes.begin;
    share = {passes.begin * of_pass, passes.end * of_pass};
  } else {
    share = share_of(of_step, ranks_.rank(), ranks_.size());
  }
  std::vector<Batch> batches;
  loader_.skip(share.begin);
  for (int64_t done = 0; done < share.size(); done += of_pass)
    batches.push_back(loader_.next(std::min(of_pass, share.size() - done)));
  loader_.skip(of_step - share.end);
  return batches;
}

void Run::tell_slow_rank(const StepResult& result) {
  if (const auto slow = slow_ranks_.add(result.rank_seconds)) {
    control_.warn("{} is slow: its passes take {:.1f} times as long as those of the others",
                  ranks_.name_of(slow->rank), slow->factor);
  }
}

StepResult Run::step() {
  OwnPasses own;
  const std::vector<Batch> batches = next_batches(own);
  own.batches = batches;
  const Stopwatch watch;
  const StepResult result = trainer_.step(own);
  if (result.gradient_norm == 0) throw diverged("the gradient is zero: nothing can be learnt any more");
  if (!result.is_finite()) {
    throw diverged(fmt::format("loss {} and gradient norm {} are not finite{}", result.loss,
                               result.gradient_norm, origin_of(batches)));
  }
  tell_slow_rank(result);
  state_.seconds += watch.seconds();
  ++state_.step;
  ++session_steps_;
  state_.tokens += result.tokens;
  monitor_.add(result.loss);
  state_.losses = monitor_.history();
  return result;
}

void Run::append_metrics(const nlohmann::ordered_json& line) {
  if (directory_ != nullptr) directory_->append_metrics(line);
}

void Run::validate(const RunObserver& observer) {
  if (!validator_) return;
  trainer_.complete_weights();
  const Validation validation = validator_->validate(engine_, decoder_, state_.step, ranks_);
  if (!std::isfinite(validation.loss))
    throw diverged(fmt::format("validation loss {} is not finite", validation.loss));
  append_metrics(to_json(validation));
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
  const auto first = [&](const auto& work) {
    if (directory_ != nullptr) work(*directory_);
  };
  // A checkpoint is never newer than its metrics.
  first([](RunDirectory& directory) { directory.sync_metrics(); });
  const std::filesystem::path target = directory_ != nullptr ? directory_->checkpoint(state_.step) : "";
  trainer_.complete_weights();
  write_checkpoint(target, trainer_, state_, files_, static_cast<size_t>(config_.checkpoints.file_bytes));
  saved_step_ = state_.step;
  first([&](RunDirectory& directory) {
    directory.point("latest", state_.step);
    if (state_.best_step == state_.step) directory.point("best", state_.step);
    // A model that is perhaps lost replaces no other.
    if (!monitor_.is_far()) directory.prune(config_.checkpoints.keep, state_.best_step);
  });
  name_last_checkpoint();
}

std::optional<RunEnd> Run::own_reason_to_stop() const {
  if (control_.is_cancelled()) return RunEnd::Interrupted;
  if (config_.stop.patience > 0 && state_.stale_validations >= config_.stop.patience)
    return RunEnd::NoProgress;
  const double minutes = session_.seconds() / 60;
  // A step at least, or sessions that are too short would never get anywhere.
  if (config_.stop.minutes > 0 && minutes >= config_.stop.minutes && session_steps_ > 0)
    return RunEnd::OutOfTime;
  return {};
}

// What one rank wants all do, or some would wait for others that have stopped.
std::optional<RunEnd> Run::reason_to_stop() {
  const auto own = static_cast<int64_t>(own_reason_to_stop().value_or(RunEnd::Finished));
  const auto agreed = static_cast<RunEnd>(agree_on_largest(ranks_, own));
  if (agreed == RunEnd::Finished) return {};
  return agreed;
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
    append_metrics(step_line(result, state_));
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
