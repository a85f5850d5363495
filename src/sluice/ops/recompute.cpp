#include "sluice/ops/recompute.h"

namespace sluice {
namespace {

void replay(Gradients& gradients, const std::vector<Var>& inputs, const Block& block) {
  Tape inner;
  std::vector<Var> leaves;
  for (const Var& input : inputs) {
    leaves.push_back(input.wants_gradient() ? inner.leaf(input.value()) : Var(input.value()));
  }
  const Var output = block(gradients.context().with_tape(&inner), leaves);
  if (!output.wants_gradient()) return;
  inner.backward(gradients.context(), output, gradients.dy());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!leaves[i].wants_gradient()) continue;
    if (const Tensor& gradient = inner.gradient(leaves[i]); gradient.defined()) {
      gradients.add(inputs[i].slot(), gradient);
    }
  }
}

}  // namespace

Var run_block(const Context& context, Activations activations, const std::vector<Var>& inputs,
              const Block& block) {
  if (activations == Activations::Keep || context.tape == nullptr) return block(context, inputs);
  Tensor value = block(context.with_tape(nullptr), inputs).value();
  // Recorded even if no input wants a gradient: parameters inside the block may.
  return context.tape->record(std::move(value),
                              [inputs, block](Gradients& gradients) { replay(gradients, inputs, block); });
}

}  // namespace sluice
