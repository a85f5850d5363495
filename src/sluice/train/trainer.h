// A training step: forward, backward, update. Batches and what happens between steps are the run's (run.h).
#pragma once

#include <functional>
#include <span>

#include "sluice/data/packed_sequences.h"
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

// Sums the counts of all who share a step, each with passes of its own. Counts are whole numbers, so the sums
// do not depend on who has which pass.
using SumOfLoads = std::function<void(std::span<int64_t>)>;

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

  bool is_finite() const;
};

class Trainer {
 public:
  Trainer(Engine& engine, Decoder& decoder, const TrainerOptions& options);

  // One update from one or more batches, whose gradients add up as if they were one. If loss or gradients are
  // not finite, nothing is changed.
  StepResult step(std::span<const Batch> batches);

  // The first half of a step: gradients of all batches together, left in the parameters.
  StepResult accumulate(std::span<const Batch> batches);

  // For whoever takes a step together with others.
  void share_loads(SumOfLoads sum) { sum_of_loads_ = std::move(sum); }

  int64_t steps() const { return optimizer_.steps(); }
  Decoder& decoder() { return decoder_; }
  AdamW& optimizer() { return optimizer_; }
  Context context(Tape* tape = nullptr) const;

 private:
  struct Losses {
    Var tokens, auxiliary;  // a default Var is none
  };
  Losses losses_of(const Context& context, const Batch& batch, const RouterTraining* routers) const;
  std::optional<ExpertLoads> loads_of(std::span<const Batch> batches, Packing packing) const;

  Engine& engine_;
  Decoder& decoder_;
  TrainerOptions options_;
  AdamW optimizer_;
  SumOfLoads sum_of_loads_ = {};  // none: the step is this trainer's alone
};

}  // namespace sluice
