#include "sluice/train/trainer.h"

#include <cmath>

#include "sluice/base/stopwatch.h"
#include "sluice/ops/arithmetic.h"
#include "sluice/ops/linear_cross_entropy.h"

namespace sluice {
namespace {

// The loss, of which a share counts; 0 if there is none.
double add_seed(const Context& context, const Var& loss, double share, std::vector<Tape::Seed>& seeds) {
  if (!loss.value().defined()) return 0;
  const Tensor seed = context.empty(loss.shape(), DType::F32);
  *seed.data<float>() = static_cast<float>(share);
  seeds.push_back({loss, seed});
  return *loss.value().data<float>();
}

}  // namespace

bool StepResult::is_finite() const {
  return std::isfinite(loss) && std::isfinite(auxiliary_loss) && std::isfinite(gradient_norm);
}

Trainer::Trainer(Engine& engine, Decoder& decoder, const TrainerOptions& options)
    : engine_(engine),
      decoder_(decoder),
      options_(options),
      optimizer_({engine}, decoder.parameters(), options.optimizer) {}

Context Trainer::context(Tape* tape) const {
  return {
      .engine = engine_, .tape = tape, .precision = options_.precision, .activations = options_.activations};
}

Trainer::Losses Trainer::losses_of(const Context& context, const Batch& batch,
                                   const RouterTraining* routers) const {
  Pass pass = decoder_.begin(context, Sequences::equal(batch.sequences, batch.length));
  pass.routers = routers;
  LayerOutput output =
      decoder_.run(context, decoder_.embed(context, batch.inputs), pass, {0, decoder_.layers()});
  output.y = decoder_.finish(context, output.y);
  const Tensor targets =
      Tensor::from<int32_t>(engine_.pool(), {static_cast<int64_t>(batch.targets.size())}, batch.targets);
  return {.tokens =
              linear_cross_entropy(context, output.y, weight_of(context, decoder_.output_weight()), targets),
          .auxiliary = output.auxiliary_loss};
}

// A pass over all batches that only counts: how often an expert is chosen in a step is not known before its
// last pass, and what was counted so far would make the loss depend on the order of the passes. None if every
// pass is judged by itself, or is all there is.
std::optional<ExpertLoads> Trainer::loads_of(std::span<const Batch> batches, Packing packing) const {
  const ModelConfig& config = decoder_.config();
  const bool alone = batches.size() == 1 && !sum_of_loads_;
  if (!config.moe || options_.routers.balance == 0 || options_.routers.over == BalanceOver::Pass || alone)
    return {};
  ExpertLoads loads(config.layers, config.moe->experts);
  const RouterTraining counting{.counted = &loads};
  for (const Batch& batch : batches) {
    const Context counted = context().with_packing(packing);
    Pass pass = decoder_.begin(counted, Sequences::equal(batch.sequences, batch.length));
    pass.routers = &counting;
    decoder_.run(counted, decoder_.embed(counted, batch.inputs), pass, {0, decoder_.layers()});
  }
  if (sum_of_loads_) sum_of_loads_(loads.all());
  return loads;
}

StepResult Trainer::accumulate(std::span<const Batch> batches) {
  StepResult result{.rate = options_.schedule.rate(steps())};
  for (const Batch& batch : batches) result.tokens += std::ssize(batch.inputs);
  // In a single pass keeping weights packed would only cost memory; recomputed blocks, which pack theirs a
  // second time, are there to save it.
  const Packing packing = batches.size() > 1 ? Packing::Keep : Packing::Once;
  Stopwatch counting;
  const std::optional<ExpertLoads> loads = loads_of(batches, packing);
  result.seconds.forward += counting.lap();
  const RouterTraining routers{
      .balance = options_.routers.balance, .z = options_.routers.z, .loads = loads ? &*loads : nullptr};
  for (const Batch& batch : batches) {
    Stopwatch watch;
    Tape tape;
    const Context recording = context(&tape).with_packing(packing);
    const Losses losses = losses_of(recording, batch, &routers);
    result.seconds.forward += watch.lap();
    const double share = static_cast<double>(batch.inputs.size()) / static_cast<double>(result.tokens);
    std::vector<Tape::Seed> seeds;
    result.loss += share * add_seed(recording, losses.tokens, share, seeds);
    result.auxiliary_loss += share * add_seed(recording, losses.auxiliary, share, seeds);
    tape.backward(recording, std::move(seeds));
    result.seconds.backward += watch.lap();
  }
  if (packing == Packing::Keep) decoder_.drop_packed_weights();
  return result;
}

StepResult Trainer::step(std::span<const Batch> batches) {
  StepResult result = accumulate(batches);
  Stopwatch watch;
  result.gradient_norm = optimizer_.gradient_norm(context());
  if (result.is_finite()) {
    optimizer_.step(context(), result.rate, result.gradient_norm);
  } else {
    for (const NamedParameter& named : decoder_.parameters()) named.parameter->grad = {};
  }
  result.seconds.update = watch.lap();
  return result;
}

}  // namespace sluice
