#include "sluice/train/training_plan.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sluice/base/random.h"
#include "sluice/base/system.h"
#include "sluice/data/random_batch.h"
#include "sluice/model/count.h"
#include "sluice/train/trainer.h"

namespace sluice {
namespace {

// Enough for the products to be as wide as in the run, few enough to be quick.
constexpr int64_t kTrialSequences = 4;

struct Sample {
  double pass_seconds = 0;    // forward and backward
  double update_seconds = 0;  // once per step, whatever its passes
  double bytes = 0;
};

// The second of two steps: the first one fills the pool.
Sample try_step(Engine& engine, Trainer& trainer, const Batch& batch, const JobControl& control) {
  StepResult::Seconds seconds;
  for (int repetition = 0; repetition < 2; ++repetition) {
    control.stop_if_cancelled();
    engine.pool().reset_high_water();
    seconds = trainer.step({&batch, 1}).seconds;
  }
  return {seconds.forward + seconds.backward, seconds.update,
          static_cast<double>(engine.pool().stats().high_water)};
}

// Time and memory of a pass are linear in its sequences: measured at two sizes, they are known for a third.
Sample extrapolate(const Sample& half, const Sample& whole, double sequences, double tried) {
  const double more = (sequences - tried) / (tried - tried / 2);
  return {std::max(whole.pass_seconds, whole.pass_seconds + more * (whole.pass_seconds - half.pass_seconds)),
          whole.update_seconds, std::max(whole.bytes, whole.bytes + more * (whole.bytes - half.bytes))};
}

TrainingPlan::Trial try_out(Engine& engine, const RunConfig& config, const JobControl& control) {
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
    pass = try_step(engine, trainer, batch_of(1), control);
  } else {
    const Sample half = try_step(engine, trainer, batch_of(tried / 2), control);
    const Sample whole = try_step(engine, trainer, batch_of(tried), control);
    pass = extrapolate(half, whole, static_cast<double>(sequences), static_cast<double>(tried));
  }
  const auto passes = static_cast<double>(config.batch_tokens / config.pass_tokens);
  const double step = pass.pass_seconds * passes + pass.update_seconds;
  const double seconds = step * static_cast<double>(config.steps());
  return {.seconds = seconds,
          .tokens_per_s = static_cast<double>(config.steps() * config.batch_tokens) / seconds,
          .memory_bytes = static_cast<int64_t>(pass.bytes)};
}

}  // namespace

TrainingPlan plan_training(Engine& engine, const RunConfig& config, const JobControl& control) {
  TrainingPlan plan;
  plan.parameters = count_parameters(config.model).total();
  plan.steps = config.steps();
  plan.tokens = plan.steps * config.batch_tokens;
  plan.flops = training_flops_per_token(config.model, config.sequence) * static_cast<double>(plan.tokens);
  plan.state_bytes = plan.parameters * 4 * static_cast<int64_t>(sizeof(float));
  plan.available_bytes = system_memory().available;
  // Activations come on top: what fills the machine already is not tried.
  if (plan.state_bytes < plan.available_bytes / 10 * 8) plan.trial = try_out(engine, config, control);
  return plan;
}

nlohmann::ordered_json to_json(const TrainingPlan& plan) {
  const auto& trial = plan.trial;
  nlohmann::ordered_json json = {
      {"parameters", plan.parameters},   {"steps", plan.steps},
      {"tokens", plan.tokens},           {"flops", plan.flops},
      {"state_bytes", plan.state_bytes}, {"available_bytes", plan.available_bytes}};
  json["memory_bytes"] = trial ? nlohmann::ordered_json(trial->memory_bytes) : nullptr;
  json["timing"] =
      trial ? nlohmann::ordered_json{{"tokens_per_s", trial->tokens_per_s}, {"seconds", trial->seconds}}
            : nlohmann::ordered_json();
  return json;
}

}  // namespace sluice
