// A training step: forward, backward, update, on one rank or on several together. Batches and what happens
// between steps are the run's (run.h).
#pragma once

#include <functional>
#include <span>

#include "sluice/data/packed_sequences.h"
#include "sluice/dist/expert_exchange.h"
#include "sluice/model/decoder.h"
#include "sluice/nn/expert_loads.h"
#include "sluice/optim/adamw.h"
#include "sluice/optim/schedule.h"

namespace sluice {

// Which choices a router's balance is judged by: those of all passes of a step, which leaves a pass free to
// prefer some experts (arXiv 2501.11873), or those of each pass alone.
enum class BalanceOver { Step, Pass };

// What is added to the loss for the routers of each sparse layer (nn/expert_loads.h).
struct RouterOptions {
  double balance = 0.01, z = 0.001;
  BalanceOver over = BalanceOver::Step;
};

struct TrainerOptions {
  Schedule schedule = {};
  AdamWOptions optimizer = {};
  Precision precision = Precision::Bf16;
  Activations activations = Activations::Keep;
  RouterOptions routers = {};
};

// Whose step it is.
struct TrainerRanks {
  std::reference_wrapper<Ranks> ranks = alone();
  ReduceOrder order = ReduceOrder::Exact;
  ExpertPlacement experts = ExpertPlacement::Everywhere;  // Spread: all ranks take as many passes of a step
};

// The passes of a step that this rank takes: those from `first` on, of so many.
struct OwnPasses {
  std::span<const Batch> batches;
  int64_t first = 0, total = 0;
  int64_t tokens = 0;  // of all passes, on whatever rank
};

struct StepResult {
  double loss = 0;            // mean over the tokens of the step
  double auxiliary_loss = 0;  // of routers and the like; not part of the loss, but trained on beside it
  double gradient_norm = 0;
  double rate = 0;
  int64_t tokens = 0;

  struct Seconds {
    double forward = 0, backward = 0;
    double update = 0;  // the norm of the gradients among it
  } seconds = {};

  // Forward and backward of every rank, without waiting for others.
  std::vector<double> rank_seconds = {};

  bool is_finite() const;
};

class Trainer {
 public:
  Trainer(Engine& engine, Decoder& decoder, const TrainerOptions& options, const TrainerRanks& ranks = {});

  // One update from one or more batches, whose gradients add up as if they were one. If loss or gradients are
  // not finite, nothing is changed. Several ranks take it together, and have the same weights afterwards, but
  // for experts that are spread.
  StepResult step(const OwnPasses& own);
  StepResult step(std::span<const Batch> batches) { return step(all_of(batches)); }

  // The first half of a step: gradients of all batches together, left in the parameters; on several ranks
  // each has those of its pieces.
  StepResult accumulate(const OwnPasses& own);
  StepResult accumulate(std::span<const Batch> batches) { return accumulate(all_of(batches)); }

  // Afterwards every rank has all weights, those of spread experts among them.
  void complete_weights();

  ReduceOrder order() const { return order_; }
  Ranks& ranks() const { return ranks_; }
  const ShardLayout& layout() const { return exchange_.layout(); }

  int64_t steps() const { return optimizer_.steps(); }
  Decoder& decoder() { return decoder_; }
  AdamW& optimizer() { return optimizer_; }
  Context context(Tape* tape = nullptr) const;

 private:
  struct Losses {
    Var tokens, auxiliary;  // a default Var is none
  };
  // What a pass is to its step.
  struct PassRole {
    double share = 1;  // of the step's tokens
    const RouterTraining& routers;
  };
  Losses losses_of(const Context& context, const Batch& batch, const RouterTraining& routers) const;
  std::optional<ExpertLoads> loads_of(std::span<const Batch> batches, Packing packing);
  SpreadExperts* spread() { return experts_ ? &*experts_ : nullptr; }
  static OwnPasses all_of(std::span<const Batch> batches);
  void run_pass(const Context& context, const Batch& batch, const PassRole& role, StepResult& result);
  void run_passes(const OwnPasses& own, StepResult& result);
  void gather_losses(StepResult& result);

  Engine& engine_;
  Decoder& decoder_;
  TrainerOptions options_;
  Ranks& ranks_;
  ReduceOrder order_;
  GradientExchange exchange_;
  std::optional<ExpertExchange> experts_;  // of spread experts
  bool is_complete_ = true;                // this rank has all weights
  std::vector<double> pass_losses_;  // of own passes, weighted: of the tokens, then of routers, in turns
  AdamW optimizer_;
};

}  // namespace sluice
