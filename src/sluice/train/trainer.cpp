#include "sluice/train/trainer.h"

#include <cmath>
#include <cstring>

#include "sluice/base/stopwatch.h"
#include "sluice/dist/value_exchange.h"
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

Trainer::Trainer(Engine& engine, Decoder& decoder, const TrainerOptions& options, const TrainerRanks& ranks)
    : engine_(engine),
      decoder_(decoder),
      options_(options),
      ranks_(ranks.ranks),
      order_(ranks.order),
      exchange_(ranks_, decoder.parameters(), expert_owners(decoder, ranks_, ranks.experts)),
      optimizer_({engine}, decoder.parameters(), options.optimizer,
                 exchange_.layout().pieces_of(ranks_.rank())) {
  if (ranks.experts == ExpertPlacement::Spread && ranks_.size() > 1 && decoder.config().moe)
    experts_.emplace(ranks_, decoder);
}

Context Trainer::context(Tape* tape) const {
  return {
      .engine = engine_, .tape = tape, .precision = options_.precision, .activations = options_.activations};
}

Trainer::Losses Trainer::losses_of(const Context& context, const Batch& batch,
                                   const RouterTraining& routers) const {
  Pass pass = decoder_.begin(context, Sequences::equal(batch.sequences, batch.length));
  pass.routers = &routers;
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
// pass is judged by itself, or is all there is. Counts are whole numbers, so their sums do not depend on who
// has which pass.
std::optional<ExpertLoads> Trainer::loads_of(std::span<const Batch> batches, Packing packing) {
  const ModelConfig& config = decoder_.config();
  const bool is_all = batches.size() == 1 && ranks_.size() == 1;
  if (!config.moe || options_.routers.balance == 0 || options_.routers.over == BalanceOver::Pass || is_all)
    return {};
  ExpertLoads loads(config.layers, config.moe->experts);
  const RouterTraining counting{.counted = &loads, .spread = spread()};
  for (const Batch& batch : batches) {
    const Context counted = context().with_packing(packing);
    Pass pass = decoder_.begin(counted, Sequences::equal(batch.sequences, batch.length));
    pass.routers = &counting;
    decoder_.run(counted, decoder_.embed(counted, batch.inputs), pass, {0, decoder_.layers()});
  }
  sum_over(ranks_, loads.all());
  return loads;
}

OwnPasses Trainer::all_of(std::span<const Batch> batches) {
  OwnPasses own{.batches = batches, .first = 0, .total = std::ssize(batches)};
  for (const Batch& batch : batches) own.tokens += std::ssize(batch.inputs);
  return own;
}

void Trainer::run_pass(const Context& recording, const Batch& batch, const PassRole& role,
                       StepResult& result) {
  Stopwatch watch;
  const Losses losses = losses_of(recording, batch, role.routers);
  result.seconds.forward += watch.lap();
  std::vector<Tape::Seed> seeds;
  pass_losses_.push_back(role.share * add_seed(recording, losses.tokens, role.share, seeds));
  pass_losses_.push_back(role.share * add_seed(recording, losses.auxiliary, role.share, seeds));
  recording.tape->backward(recording, std::move(seeds));
  result.seconds.backward += watch.lap();
}

void Trainer::run_passes(const OwnPasses& own, StepResult& result) {
  // In a single pass keeping weights packed would only cost memory; recomputed blocks, which pack theirs a
  // second time, are there to save it.
  const Packing packing = own.batches.size() > 1 ? Packing::Keep : Packing::Once;
  const bool exact = order_ == ReduceOrder::Exact;
  Stopwatch counting;
  const std::optional<ExpertLoads> loads = loads_of(own.batches, packing);
  result.seconds.forward += counting.lap();
  const RouterTraining routers{.balance = options_.routers.balance,
                               .z = options_.routers.z,
                               .loads = loads ? &*loads : nullptr,
                               .spread = spread()};
  if (experts_) experts_->begin_step(context(), std::ssize(own.batches));
  PassGradients sum = pass_gradients(context(), own.total);
  for (size_t i = 0; i < own.batches.size(); ++i) {
    const Batch& batch = own.batches[i];
    const bool overlaps = !exact && i + 1 == own.batches.size();
    if (overlaps) exchange_.begin_sum(context(), order_ == ReduceOrder::FastBf16 ? DType::BF16 : DType::F32);
    Tape tape(overlaps && ranks_.size() > 1
                  ? Tape::Listener([&](const Parameter& parameter) { exchange_.note_done(parameter); })
                  : Tape::Listener());
    const double share = static_cast<double>(batch.inputs.size()) / static_cast<double>(own.tokens);
    run_pass(context(&tape).with_packing(packing), batch, {share, routers}, result);
    if (exact) sum.push(own.first + static_cast<int64_t>(i), take_gradients(decoder_.parameters()));
    if (experts_) experts_->end_pass();
  }
  if (packing == Packing::Keep) decoder_.drop_packed_weights();
  const Stopwatch watch;
  result.rank_seconds = {result.seconds.forward + result.seconds.backward};
  exact ? exchange_.sum_exactly(context(), std::move(sum), own.total) : exchange_.finish_sum();
  if (experts_) experts_->end_step();
  result.seconds.backward += watch.seconds();
}

// In the order of the passes, whoever took them.
void Trainer::gather_losses(StepResult& result) {
  if (ranks_.size() > 1) {
    pass_losses_.insert(pass_losses_.begin(), result.rank_seconds.front());
    result.rank_seconds.clear();
    const std::string own(reinterpret_cast<const char*>(pass_losses_.data()),
                          pass_losses_.size() * sizeof(double));
    pass_losses_.clear();
    for (const std::string& bytes : all_gather(ranks_, own)) {
      std::vector<double> values(bytes.size() / sizeof(double));
      std::memcpy(values.data(), bytes.data(), bytes.size());
      result.rank_seconds.push_back(values.front());
      pass_losses_.insert(pass_losses_.end(), values.begin() + 1, values.end());
    }
  }
  for (size_t i = 0; i < pass_losses_.size(); i += 2) {
    result.loss += pass_losses_[i];
    result.auxiliary_loss += pass_losses_[i + 1];
  }
}

StepResult Trainer::accumulate(const OwnPasses& own) {
  StepResult result{.rate = options_.schedule.rate(steps()), .tokens = own.tokens};
  pass_losses_.clear();
  run_passes(own, result);
  gather_losses(result);
  return result;
}

void Trainer::complete_weights() {
  if (!is_complete_) spread_owned_values(ranks_, decoder_.parameters(), layout());
  is_complete_ = true;
}

StepResult Trainer::step(const OwnPasses& own) {
  StepResult result = accumulate(own);
  Stopwatch watch;
  result.gradient_norm = exchange_.norm(context(), optimizer_);
  if (result.is_finite()) {
    optimizer_.step(context(), result.rate, result.gradient_norm);
    spread_values(context(), ranks_, decoder_.parameters(), layout());
    is_complete_ = !experts_;
  } else {
    for (const NamedParameter& named : decoder_.parameters()) named.parameter->grad = {};
  }
  result.seconds.update = watch.lap();
  return result;
}

}  // namespace sluice
