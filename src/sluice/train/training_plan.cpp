#include "sluice/train/training_plan.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sluice/base/median.h"
#include "sluice/base/random.h"
#include "sluice/base/stopwatch.h"
#include "sluice/base/system.h"
#include "sluice/data/random_batch.h"
#include "sluice/dist/pairwise_sum.h"
#include "sluice/model/count.h"
#include "sluice/train/trainer.h"

namespace sluice {
namespace {

// A step that takes longer than this is tried with fewer sequences.
constexpr double kLongStep = 2.0;  // seconds
// Enough for the products to be as wide as in the run, few enough to be quick.
constexpr int64_t kFewSequences = 4;
// The second finds what the first leaves behind, gradients and packed weights, and further ones find the
// same, but for sums that are kept.
constexpr int64_t kFewPasses = 2;

int64_t rounded_up(int64_t count, int64_t parts) {
  return (count + parts - 1) / parts;
}

// What the busiest rank has of a step.
struct StepShare {
  int64_t passes = 0;          // one after the other
  int64_t pass_sequences = 0;  // at most
  int64_t sequences = 0;       // of all its passes
  int64_t kept_sums = 0;

  int64_t tried_passes() const { return std::min(kFewPasses, passes); }
  int64_t tried_sums() const { return kept_sums == 0 ? 0 : tried_passes() - 1; }
};

// How many sums of gradients wait at most while a pass is under way, on the rank that has most of them.
int64_t most_kept_sums(int64_t passes, int ranks) {
  struct Nothing {};
  const auto add = [](Nothing, Nothing) { return Nothing{}; };
  int64_t most = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    PairwiseSum<Nothing, decltype(add)> sum(passes, add);
    const Range own = share_of(passes, rank, ranks);
    for (int64_t pass = own.begin; pass < own.end; ++pass) {
      most = std::max<int64_t>(most, std::ssize(sum.terms()));
      sum.push(pass, {});
    }
  }
  return most;
}

bool is_spread(const RunConfig& config, const TrainerRanks& ranks) {
  return config.model.moe && ranks.ranks.get().size() > 1 && ranks.experts == ExpertPlacement::Spread;
}

StepShare share_of_step(const RunConfig& config, const TrainerRanks& ranks) {
  const int count = ranks.ranks.get().size();
  const int64_t of_step = config.batch_tokens / config.sequence;
  const int64_t of_pass = config.pass_tokens / config.sequence;
  const int64_t passes = of_step / of_pass;
  StepShare share{.passes = rounded_up(passes, count), .pass_sequences = of_pass};
  if (ranks.order == ReduceOrder::Exact) {
    share.sequences = share.passes * of_pass;
    share.kept_sums = most_kept_sums(passes, count);
    return share;
  }
  // Sequences are shared out, and cut into passes by each rank.
  share.sequences = rounded_up(of_step, count);
  share.pass_sequences = std::min(of_pass, share.sequences);
  share.passes = rounded_up(share.sequences, of_pass);
  // Those of spread experts are added pass by pass in any order.
  if (is_spread(config, ranks)) share.kept_sums = most_kept_sums(share.passes * count, count);
  return share;
}

int64_t expert_parameters(const ModelConfig& model) {
  int64_t layers = 0;
  for (int64_t layer = 0; layer < model.layers; ++layer) layers += model.has_experts(layer) ? 1 : 0;
  return layers == 0 ? 0 : layers * model.moe->experts * 3 * model.hidden * model.moe->expert_width;
}

// They share its memory.
int64_t ranks_on_this_machine(Ranks& ranks) {
  return std::ranges::count(all_gather(ranks, host_name()), host_name());
}

struct Sample {
  double pass_seconds = 0;  // forward and backward
  double rest_seconds = 0;  // once per step, whatever its passes: messages and the update
  double bytes = 0;

  double step_seconds(const StepShare& share) const {
    return pass_seconds * static_cast<double>(share.sequences) / static_cast<double>(share.pass_sequences) +
           rest_seconds;
  }
};

class Trial {
 public:
  Trial(Engine& engine, const RunConfig& config, const JobControl& control, const TrainerRanks& ranks)
      : engine_(engine),
        config_(config),
        control_(control),
        ranks_(ranks.ranks),
        share_(share_of_step(config, ranks)),
        ranks_here_(ranks_on_this_machine(ranks_)),
        decoder_(config.model) {
    engine_.pool().release_unused();
    foreign_bytes_ = engine_.pool().stats().reserved;
    decoder_.initialise(engine, Random(config.seed), config.init);
    trainer_.emplace(engine, decoder_, config.trainer, ranks);
  }

  // As the run has it, or, if that would take long, from two smaller ones.
  Sample step() {
    const int64_t sequences = share_.pass_sequences;
    if (sequences <= 2) return median_step(sequences);
    const int64_t tried = std::min(kFewSequences, sequences / 2 * 2);  // even, so that it can be halved
    const Sample half = median_step(tried / 2);
    const Sample whole = median_step(tried);
    const Sample expected =
        extrapolated(half, whole, static_cast<double>(sequences) / static_cast<double>(tried));
    const bool is_long = expected.pass_seconds * static_cast<double>(share_.tried_passes()) > kLongStep ||
                         expected.bytes > 0.8 * static_cast<double>(system_memory().available / ranks_here_);
    return any_rank(is_long) ? expected : median_step(sequences);
  }

 private:
  bool any_rank(bool own) { return agree_on_largest(ranks_, own ? 1 : 0) == 1; }

  std::vector<Batch> batches_of(int64_t sequences) const {
    std::vector<Batch> batches;
    for (int64_t pass = 0; pass < share_.tried_passes(); ++pass) {
      batches.push_back(random_batch({.sequences = sequences,
                                      .length = config_.sequence,
                                      .vocabulary = config_.model.vocabulary,
                                      .seed = static_cast<uint64_t>(pass)}));
    }
    return batches;
  }

  // Of several steps behind the first, which fills the pool: one may be disturbed by other programs.
  Sample median_step(int64_t sequences) {
    constexpr int kMost = 9;
    const std::vector<Batch> batches = batches_of(sequences);
    const int64_t passes = std::ssize(batches);
    const OwnPasses own{.batches = batches,
                        .first = passes * ranks_.rank(),
                        .total = passes * ranks_.size(),
                        .tokens = passes * ranks_.size() * sequences * config_.sequence};
    engine_.pool().release_unused();
    const Stopwatch watch;
    std::vector<double> of_passes, rests;
    for (int repetition = 0; repetition <= kMost; ++repetition) {
      if (any_rank(control_.is_cancelled())) throw Error(ErrorKind::Interrupted, {.what = "interrupted"});
      const Stopwatch step;
      const StepResult result = trainer_->step(own);
      const double slowest = std::ranges::max(result.rank_seconds);
      if (repetition == 0) continue;
      of_passes.push_back(slowest / static_cast<double>(passes));
      rests.push_back(std::max(step.seconds() - slowest, 0.0));
      if (any_rank(watch.seconds() > kLongStep)) break;
    }
    // Freed blocks are kept for the next step, so this is what the process takes, not what is in use at once.
    const size_t bytes = engine_.pool().stats().reserved - foreign_bytes_;
    return {median(of_passes), median(rests), static_cast<double>(bytes)};
  }

  // Time and memory of a pass are linear in its sequences: measured at two sizes, they are known for a third.
  static Sample extrapolated(const Sample& half, const Sample& whole, double factor) {
    const double more = 2 * (factor - 1);  // halves that are missing
    return {
        std::max(whole.pass_seconds, whole.pass_seconds + more * (whole.pass_seconds - half.pass_seconds)),
        whole.rest_seconds, std::max(whole.bytes, whole.bytes + more * (whole.bytes - half.bytes))};
  }

  Engine& engine_;
  const RunConfig& config_;
  const JobControl& control_;
  Ranks& ranks_;
  StepShare share_;
  int64_t ranks_here_;
  size_t foreign_bytes_ = 0;  // of the pool, before anything was tried
  Decoder decoder_;
  std::optional<Trainer> trainer_;
};

// Weights on every rank, gradients too, but for those of spread experts; moments are shared out.
int64_t state_bytes_of(const RunConfig& config, const TrainerRanks& ranks) {
  const int64_t all = count_parameters(config.model).total();
  const int64_t spread = is_spread(config, ranks) ? expert_parameters(config.model) : 0;
  const int64_t count = ranks.ranks.get().size();
  constexpr auto kValue = static_cast<int64_t>(sizeof(float));
  return kValue * (all + all - spread + rounded_up(spread, count) + 2 * rounded_up(all, count));
}

// Of one sum. In the fast order those of spread experts are the only ones.
int64_t sum_bytes_of(const RunConfig& config, const TrainerRanks& ranks) {
  const int64_t parameters = ranks.order == ReduceOrder::Exact ? count_parameters(config.model).total()
                                                               : expert_parameters(config.model);
  return parameters * static_cast<int64_t>(sizeof(float));
}

}  // namespace

TrainingPlan plan_training(Engine& engine, const RunConfig& config, const JobControl& control,
                           const TrainerRanks& ranks) {
  Ranks& group = ranks.ranks;
  const StepShare share = share_of_step(config, ranks);
  const int64_t sum_bytes = sum_bytes_of(config, ranks);
  TrainingPlan plan;
  plan.parameters = count_parameters(config.model).total();
  plan.steps = config.steps();
  plan.tokens = plan.steps * config.batch_tokens;
  plan.flops = training_flops_per_token(config.model, config.sequence) * static_cast<double>(plan.tokens);
  plan.ranks = group.size();
  plan.ranks_here = static_cast<int>(ranks_on_this_machine(group));
  plan.passes = share.passes;
  plan.pass_tokens = share.pass_sequences * config.sequence;
  plan.state_bytes = state_bytes_of(config, ranks);
  plan.kept_sums = share.kept_sums;
  plan.kept_bytes = share.kept_sums * sum_bytes;
  plan.available_bytes = system_memory().available;
  // Activations come on top: what fills the machine already is not tried.
  const bool fits = plan.state_bytes + plan.kept_bytes < plan.available_bytes / plan.ranks_here / 10 * 8;
  if (agree_on_largest(group, fits ? 0 : 1) == 1) return plan;
  const Sample sample = Trial(engine, config, control, ranks).step();
  const double step = sample.step_seconds(share);
  const auto tried_bytes = static_cast<int64_t>(sample.bytes);
  plan.trial = {.seconds = step * static_cast<double>(config.steps()),
                .tokens_per_s = static_cast<double>(config.batch_tokens) / step,
                .memory_bytes = agree_on_largest(group, tried_bytes) +
                                (share.kept_sums - share.tried_sums()) * sum_bytes};
  return plan;
}

nlohmann::ordered_json to_json(const TrainingPlan& plan) {
  const auto& trial = plan.trial;
  nlohmann::ordered_json json = {{"parameters", plan.parameters},
                                 {"steps", plan.steps},
                                 {"tokens", plan.tokens},
                                 {"flops", plan.flops},
                                 {"ranks", plan.ranks},
                                 {"passes_per_rank", plan.passes},
                                 {"pass_tokens", plan.pass_tokens},
                                 {"state_bytes", plan.state_bytes},
                                 {"kept_gradient_bytes", plan.kept_bytes},
                                 {"available_bytes", plan.available_bytes}};
  json["memory_bytes"] = trial ? nlohmann::ordered_json(trial->memory_bytes) : nullptr;
  json["timing"] =
      trial ? nlohmann::ordered_json{{"tokens_per_s", trial->tokens_per_s}, {"seconds", trial->seconds}}
            : nlohmann::ordered_json();
  return json;
}

}  // namespace sluice
