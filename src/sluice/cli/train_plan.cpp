#include "sluice/cli/train_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sluice/base/interrupt.h"
#include "sluice/base/random.h"
#include "sluice/base/system.h"
#include "sluice/data/random_batch.h"
#include "sluice/model/count.h"
#include "sluice/train/trainer.h"

namespace sluice::cli {
namespace {

// Enough for the products to be as wide as in the run, few enough to be quick.
constexpr int64_t kTrialSequences = 4;

struct Sample {
  double pass_seconds = 0;    // forward and backward
  double update_seconds = 0;  // once per step, whatever its passes
  double bytes = 0;
};

// The second of two steps: the first one fills the pool.
Sample try_step(Engine& engine, Trainer& trainer, const Batch& batch) {
  StepResult::Seconds seconds;
  for (int repetition = 0; repetition < 2; ++repetition) {
    throw_if_interrupted();
    engine.pool().reset_high_water();
    seconds = trainer.step({&batch, 1}).seconds;
  }
  return {seconds.forward + seconds.backward, seconds.update,
          static_cast<double>(engine.pool().stats().high_water)};
}

// Time and memory of a pass grow with its sequences from a part that does not, so two sizes tell of a third.
Sample extrapolate(const Sample& half, const Sample& whole, double sequences, double tried) {
  const double more = (sequences - tried) / (tried - tried / 2);
  return {std::max(whole.pass_seconds, whole.pass_seconds + more * (whole.pass_seconds - half.pass_seconds)),
          whole.update_seconds, std::max(whole.bytes, whole.bytes + more * (whole.bytes - half.bytes))};
}

TrainPlan::Trial try_out(Engine& engine, const RunConfig& config) {
  Decoder decoder(config.model);
  decoder.initialise(engine, Random(config.seed));
  Trainer trainer(engine, decoder, config.trainer);
  const int64_t sequences = config.pass_tokens / config.sequence;
  // Even, so that it can be halved; a pass of one sequence is tried as it is.
  const int64_t tried = sequences == 1 ? 1 : std::min(kTrialSequences, sequences / 2 * 2);
  const auto batch_of = [&](int64_t count) {
    return random_batch(
        {.sequences = count, .length = config.sequence, .vocabulary = config.model.vocabulary});
  };
  Sample pass;
  if (tried == 1) {
    pass = try_step(engine, trainer, batch_of(1));
  } else {
    const Sample half = try_step(engine, trainer, batch_of(tried / 2));
    const Sample whole = try_step(engine, trainer, batch_of(tried));
    pass = extrapolate(half, whole, static_cast<double>(sequences), static_cast<double>(tried));
  }
  const auto passes = static_cast<double>(config.batch_tokens / config.pass_tokens);
  const double step = pass.pass_seconds * passes + pass.update_seconds;
  const double seconds = step * static_cast<double>(config.steps());
  return {.seconds = seconds,
          .tokens_per_s = static_cast<double>(config.steps() * config.batch_tokens) / seconds,
          .memory_bytes = static_cast<int64_t>(pass.bytes)};
}

std::string size(int64_t bytes) {
  const auto value = static_cast<double>(bytes);
  return value < 1e9 ? fmt::format("{:.1f} MB", value / 1e6) : fmt::format("{:.2f} GB", value / 1e9);
}

std::string duration(double seconds) {
  if (seconds < 120) return fmt::format("{:.0f} s", seconds);
  if (seconds < 7200) return fmt::format("{:.0f} minutes", seconds / 60);
  return fmt::format("{:.1f} hours", seconds / 3600);
}

}  // namespace

TrainPlan plan_run(Engine& engine, const RunConfig& config) {
  TrainPlan plan;
  plan.parameters = count_parameters(config.model).total();
  plan.steps = config.steps();
  plan.tokens = plan.steps * config.batch_tokens;
  plan.flops = training_flops_per_token(config.model, config.sequence) * static_cast<double>(plan.tokens);
  plan.state_bytes = plan.parameters * 4 * static_cast<int64_t>(sizeof(float));
  plan.machine_bytes = system_memory().available;
  // Activations come on top: what fills the machine already is not tried.
  if (plan.state_bytes < plan.machine_bytes / 10 * 8) plan.trial = try_out(engine, config);
  return plan;
}

nlohmann::ordered_json TrainPlan::json() const {
  nlohmann::ordered_json json = {{"parameters", parameters},   {"steps", steps},
                                 {"tokens", tokens},           {"flops", flops},
                                 {"state_bytes", state_bytes}, {"available_bytes", machine_bytes}};
  json["memory_bytes"] = trial ? nlohmann::ordered_json(trial->memory_bytes) : nullptr;
  json["timing"] =
      trial ? nlohmann::ordered_json{{"tokens_per_s", trial->tokens_per_s}, {"seconds", trial->seconds}}
            : nlohmann::ordered_json();
  return json;
}

std::string TrainPlan::text() const {
  std::string text = fmt::format("{:<13}{}\n", "parameters", parameters);
  text += fmt::format("{:<13}{} ({} tokens)\n", "steps", steps, tokens);
  text += fmt::format("{:<13}{:.3g} floating-point operations\n", "work", flops);
  text += fmt::format("{:<13}{} for weights, gradients and optimiser; {} are available\n", "memory",
                      size(state_bytes), size(machine_bytes));
  if (!trial) return text + fmt::format("{:<13}not tried: the model does not fit this machine\n", "time");
  text += fmt::format("{:<13}{} with activations, estimated from a few sequences\n", "",
                      size(trial->memory_bytes));
  return text + fmt::format("{:<13}about {} at {:.0f} tokens/s, likewise; validation comes on top\n", "time",
                            duration(trial->seconds), trial->tokens_per_s);
}

}  // namespace sluice::cli
