#include "sluice/train/run_resume.h"

#include <fmt/format.h>

#include "sluice/base/error.h"

namespace sluice {
namespace {

bool has_same_data(const ResumeRequest& request, const RunState& state) {
  return state.data.empty() || state.data == request.data;  // checkpoints of version 0.1.0 do not say
}

// Bad input unless the state is one that this run has at that step: the place in the data follows from it.
void check_follows(const ResumeRequest& request, const RunState& state, int64_t step) {
  const std::string where = request.directory.checkpoint(step).string();
  const auto expect = [&](const char* key, int64_t expected, int64_t got) {
    if (got == expected) return;
    throw bad_input({.where = fmt::format("{}: {}", where, key),
                     .what = "cannot be",
                     .expected = std::to_string(expected),
                     .got = std::to_string(got)});
  };
  const RunConfig& config = request.config;
  const int64_t sequences = state.step * (config.batch_tokens / config.sequence);
  expect("step", step, state.step);
  expect("tokens", state.step * config.batch_tokens, state.tokens);
  expect("epoch", sequences / request.epoch_sequences, state.epoch);
  expect("position", sequences % request.epoch_sequences, state.position);
  if (state.best_step > step) expect("best_step", step, state.best_step);
}

// None, with a warning, if a file of the checkpoint is missing or damaged.
std::optional<StoredCheckpoint> read_if_whole(const ResumeRequest& request, int64_t step,
                                              const JobControl& control) {
  try {
    StoredCheckpoint stored =
        read_checkpoint(request.directory.checkpoint(step), request.engine, request.decoder);
    if (has_same_data(request, stored.state)) check_follows(request, stored.state, step);
    return stored;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::BadInput) throw;
    control.warn("a checkpoint is skipped: {}", error.what());
    return {};
  }
}

}  // namespace

std::optional<StoredCheckpoint> newest_checkpoint(const ResumeRequest& request, const JobControl& control) {
  const std::vector<int64_t> steps = request.directory.checkpoint_steps();
  std::vector<int64_t> damaged;
  for (const int64_t step : steps) {
    std::optional<StoredCheckpoint> stored = read_if_whole(request, step, control);
    if (!stored) {
      damaged.push_back(step);
      continue;
    }
    if (!has_same_data(request, stored->state)) {
      throw bad_input({.where = request.directory.path().string(),
                       .what = "the data are not those that the run began with",
                       .hint = "give the same files in the same order"});
    }
    // Only now, when another checkpoint has proved good: the damaged ones will be written again.
    for (const int64_t each : damaged) request.directory.set_aside(each);
    return stored;
  }
  if (!steps.empty()) {
    throw failure({.where = request.directory.path().string(),
                   .what = "none of its checkpoints can be used",
                   .hint = "moved away, it is trained anew"});
  }
  return {};
}

}  // namespace sluice
