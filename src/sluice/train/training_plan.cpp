#include "sluice/train/training_plan.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sluice/base/median.h"
#include "sluice/base/random.h"
#include "sluice/base/stopwatch.h"
#include "sluice/base/system.h"
#include "sluice/data/random_batch.h"
#include "sluice/model/count.h"
#include "sluice/train/trainer.h"

namespace sluice {
namespace {

// A pass that takes longer than this is tried with fewer sequences.
constexpr double kLongPass = 2.0;  // seconds
// Enough for the products to be as wide as in the run, few enough to be quick.
constexpr int64_t kFewSequences = 4;

struct Sample {
  double pass_seconds = 0;    // forward and backward
  double update_seconds = 0;  // once per step, whatever its passes
  double bytes = 0;
};

class Trial {
 public:
  Trial(Engine& engine, const RunConfig& config, const JobControl& control)
      : engine_(engine), config_(config), control_(control), decoder_(config.model) {
    decoder_.initialise(engine, Random(config.seed), config.init);
    trainer_.emplace(engine, decoder_, config.trainer);
  }

  // As the run has them, or, if that would take long, from two smaller ones.
  Sample pass() {
    const int64_t sequences = config_.pass_tokens / config_.sequence;
    if (sequences <= 2) return median_step(sequences);
    const int64_t tried = std::min(kFewSequences, sequences / 2 * 2);  // even, so that it can be halved
    const Sample half = median_step(tried / 2);
    const Sample whole = median_step(tried);
    const Sample expected =
        extrapolated(half, whole, static_cast<double>(sequences) / static_cast<double>(tried));
    const bool is_long = expected.pass_seconds > kLongPass ||
                         expected.bytes > 0.8 * static_cast<double>(system_memory().available);
    return is_long ? expected : median_step(sequences);
  }

 private:
  // Of several steps behind the first, which fills the pool: one may be disturbed by other programs.
  Sample median_step(int64_t sequences) {
    constexpr int kMost = 9;
    const Batch batch = random_batch(
        {.sequences = sequences, .length = config_.sequence, .vocabulary = config_.model.vocabulary});
    const Stopwatch watch;
    std::vector<double> passes, updates;
    for (int repetition = 0; repetition <= kMost; ++repetition) {
      control_.stop_if_cancelled();
      engine_.pool().reset_high_water();
      const StepResult::Seconds seconds = trainer_->step({&batch, 1}).seconds;
      if (repetition == 0) continue;
      passes.push_back(seconds.forward + seconds.backward);
      updates.push_back(seconds.update);
      if (watch.seconds() > kLongPass) break;
    }
    return {median(passes), median(updates), static_cast<double>(engine_.pool().stats().high_water)};
  }

  // Time and memory of a pass are linear in its sequences: measured at two sizes, they are known for a third.
  static Sample extrapolated(const Sample& half, const Sample& whole, double factor) {
    const double more = 2 * (factor - 1);  // halves that are missing
    return {
        std::max(whole.pass_seconds, whole.pass_seconds + more * (whole.pass_seconds - half.pass_seconds)),
        whole.update_seconds, std::max(whole.bytes, whole.bytes + more * (whole.bytes - half.bytes))};
  }

  Engine& engine_;
  const RunConfig& config_;
  const JobControl& control_;
  Decoder decoder_;
  std::optional<Trainer> trainer_;
};

TrainingPlan::Trial try_out(Engine& engine, const RunConfig& config, const JobControl& control) {
  const Sample pass = Trial(engine, config, control).pass();
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
