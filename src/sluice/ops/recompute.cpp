#include "sluice/ops/recompute.h"

namespace sluice {
namespace {

struct BlockSaved {
  Context context;  // that the block was computed with
  std::vector<Var> inputs;
  BlockFunction block;
  std::vector<Tensor> arrived;  // gradients of the results so far
};

void replay(BlockSaved& saved, Gradients& gradients) {
  Tape inner(saved.context.tape->parameter_gradients());
  std::vector<Var> leaves;
  for (const Var& input : saved.inputs) {
    leaves.push_back(input.wants_gradient() ? inner.leaf(input.value()) : Var(input.value()));
  }
  const std::vector<Var> results = saved.block(saved.context.with_tape(&inner), leaves);
  std::vector<Tape::Seed> seeds;
  for (size_t i = 0; i < results.size(); ++i)
    seeds.push_back({results[i], std::exchange(saved.arrived[i], {})});
  gradients.share_listener(inner);
  inner.backward(gradients.context(), std::move(seeds));
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (!leaves[i].wants_gradient()) continue;
    if (const Tensor& gradient = inner.gradient(leaves[i]); gradient.defined())
      gradients.add(saved.inputs[i].slot(), gradient);
  }
}

}  // namespace

std::vector<Var> run_block(const Context& context, const std::vector<Var>& inputs,
                           const BlockFunction& block) {
  if (context.activations == Activations::Keep || context.tape == nullptr) return block(context, inputs);
  std::vector<Var> results = block(context.with_tape(nullptr), inputs);
  const auto saved = std::make_shared<BlockSaved>(
      BlockSaved{context.with_probe(nullptr), inputs, block, std::vector<Tensor>(results.size())});
  // Recorded even if no input wants a gradient: parameters inside the block may. The first result is played
  // last, when the gradients of the others are there.
  Slot first;
  Shape first_shape;
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i].value().defined()) continue;
    const bool replays = !first;
    results[i] = context.tape->record(results[i].value(), [saved, i, replays, first, shape = first_shape,
                                                           dtype = results[i].dtype()](Gradients& gradients) {
      saved->arrived[i] = gradients.dy();
      if (replays) return replay(*saved, gradients);
      // Nothing that depends on the first result is left to play: without a gradient it would be skipped.
      if (!gradients.has(first)) gradients.add(first, gradients.context().zeros(shape, dtype));
    });
    if (!replays) continue;
    first = results[i].slot();
    first_shape = results[i].shape();
  }
  return results;
}

}  // namespace sluice
