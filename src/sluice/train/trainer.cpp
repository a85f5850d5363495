#include "sluice/train/trainer.h"

#include <cmath>

#include "sluice/base/stopwatch.h"
#include "sluice/ops/arithmetic.h"
#include "sluice/ops/linear_cross_entropy.h"
#include "sluice/ops/packed_weights.h"

namespace sluice {

bool StepResult::is_finite() const {
  return std::isfinite(loss) && std::isfinite(gradient_norm);
}

Trainer::Trainer(Engine& engine, Decoder& decoder, const TrainerOptions& options)
    : engine_(engine),
      decoder_(decoder),
      options_(options),
      optimizer_({engine}, decoder, options.optimizer) {
  decoder.set_activations(options.activations);
}

Var Trainer::loss_of(const Context& context, const Batch& batch) {
  const auto ids = [&](const std::vector<TokenId>& tokens) {
    return Tensor::from<int32_t>(engine_.pool(), {static_cast<int64_t>(tokens.size())}, tokens);
  };
  const Placement placement = decoder_.place(context, Sequences::equal(batch.sequences, batch.length));
  const Var hidden = decoder_.hidden(context, ids(batch.inputs), placement);
  return linear_cross_entropy(context, hidden, use(context, decoder_.output_weight()), ids(batch.targets));
}

double Trainer::loss(const Batch& batch) {
  return *loss_of(context(), batch).value().data<float>();
}

StepResult Trainer::accumulate(std::span<const Batch> batches) {
  StepResult result{.rate = options_.schedule.rate(steps())};
  for (const Batch& batch : batches) result.tokens += std::ssize(batch.inputs);
  // In a single pass keeping weights packed would only cost memory; recomputed blocks, which pack theirs a
  // second time, are there to save it.
  PackedWeights packed;
  PackedWeights* reused = batches.size() > 1 ? &packed : nullptr;
  for (const Batch& batch : batches) {
    Stopwatch watch;
    Tape tape;
    const Context recording = context(&tape).with_packed(reused);
    const Var loss = loss_of(recording, batch);
    result.seconds.forward += watch.lap();
    const double share = static_cast<double>(batch.inputs.size()) / static_cast<double>(result.tokens);
    result.loss += share * *loss.value().data<float>();
    const Tensor seed = recording.empty({}, DType::F32);
    *seed.data<float>() = static_cast<float>(share);
    tape.backward(recording, loss, seed);
    result.seconds.backward += watch.lap();
  }
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
