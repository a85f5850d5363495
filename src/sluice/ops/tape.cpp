#include "sluice/ops/tape.h"

#include <algorithm>
#include <utility>

#include "sluice/ops/arithmetic.h"

namespace sluice {
namespace {

Tensor ones(const Context& context, const Tensor& like) {
  Tensor seed = context.empty_like(like);
  with_compute_type("tape", like.dtype(), [&](auto zero) {
    using T = decltype(zero);
    std::ranges::fill(seed.values<T>(), T(1));
  });
  return seed;
}

}  // namespace

void Gradients::add(Slot slot, Tensor gradient) {
  if (!slot) return;
  Tensor& grad = tape_.grad_of(slot);
  if (!grad.defined()) {
    grad = std::move(gradient);
    return;
  }
  // Gradients may share memory (a residual hands the same one to both sides): never write to a shared one.
  Tensor sum = grad.is_unshared() ? grad : context_.empty_like(grad);
  add_into(context_, sum, grad, gradient);
  grad = std::move(sum);
}

Destination Gradients::target(Slot slot, const Shape& shape, DType dtype) {
  Tensor& grad = tape_.grad_of(slot);
  if (!grad.defined()) {
    grad = context_.empty(shape, dtype);
    return {grad, Output::Overwrite};
  }
  if (!grad.is_unshared()) grad = grad.copy(context_.engine.pool());
  return {grad, Output::Accumulate};
}

bool Gradients::has(Slot slot) const {
  return slot && tape_.grad_of(slot).defined();
}

Tensor Gradients::accumulator(Slot slot, const Shape& shape, DType dtype) {
  Destination made = target(slot, shape, dtype);
  if (made.output == Output::Overwrite) made.tensor.fill_zero();
  return made.tensor;
}

void Gradients::share_listener(Tape& inner) const {
  if (!tape_.listener_) return;
  inner.listener_ = [&outer = tape_](const Parameter& parameter) {
    if (!outer.watches(parameter)) outer.listener_(parameter);
  };
}

Var Tape::leaf(Tensor value) {
  return append(std::move(value), {});
}

Var Tape::watch(const Parameter& parameter) {
  return append(parameter.value, {.parameter = &parameter});
}

Var Tape::record(Tensor value, BackwardFunction backward) {
  return append(std::move(value), {.backward = std::move(backward)});
}

Var Tape::append(Tensor value, Node node) {
  SLUICE_ASSERT(!played_, "tape: recorded on after it was played");
  nodes_.push_back(std::move(node));
  return Var(std::move(value), Slot{this, nodes_.size() - 1});
}

Tensor& Tape::grad_of(Slot slot) {
  SLUICE_ASSERT(slot.tape == this, "tape: a value of another tape, or of none, was used");
  Node& node = nodes_[slot.index];
  return node.parameter != nullptr ? node.parameter->grad : node.grad;
}

void Tape::backward(const Context& context, const Var& output, Tensor seed) {
  backward(context, {{output, std::move(seed)}});
}

void Tape::backward(const Context& context, std::vector<Seed> seeds) {
  SLUICE_ASSERT(!played_, "tape: played twice");
  // Backward functions record nothing, even if the caller's context still has this tape.
  const Context silent = context.with_tape(nullptr);
  size_t end = 0;
  for (const auto& [output, gradient] : seeds) {
    if (!gradient.defined() || !output.wants_gradient()) continue;
    SLUICE_ASSERT(gradient.shape() == output.shape(), "tape: gradient {} for a value {}",
                  gradient.shape().text(), output.shape().text());
    Gradients(silent, *this, gradient).add(output.slot(), gradient);
    end = std::max(end, output.slot().index + 1);
  }
  seeds.clear();
  played_ = true;
  for (size_t i = end; i-- > 0;) {
    play(silent, i);
    if (listener_) tell_if_complete(i);
  }
}

void Tape::play(const Context& silent, size_t node) {
  // Taken out of the tape: dropping them at the end frees what only this step needed.
  const BackwardFunction backward = std::exchange(nodes_[node].backward, nullptr);
  if (!backward) return;
  const Tensor dy = std::exchange(nodes_[node].grad, {});
  if (!dy.defined()) return;
  Gradients gradients(silent, *this, dy);
  backward(gradients);
}

// What uses a parameter stands behind the node that watches it: when the first such node is passed, all uses
// have been played.
void Tape::tell_if_complete(size_t node) const {
  const Parameter* parameter = nodes_[node].parameter;
  if (parameter == nullptr) return;
  const auto before = nodes_.begin() + static_cast<std::ptrdiff_t>(node);
  if (std::none_of(nodes_.begin(), before, [&](const Node& each) { return each.parameter == parameter; }))
    listener_(*parameter);
}

bool Tape::watches(const Parameter& parameter) const {
  return std::ranges::any_of(nodes_, [&](const Node& node) { return node.parameter == &parameter; });
}

void Tape::backward(const Context& context, const Var& loss) {
  SLUICE_ASSERT(loss.shape().count() == 1, "tape: {} is not a scalar", loss.shape().text());
  backward(context, loss, ones(context, loss.value()));
}

const Tensor& Tape::gradient(const Var& leaf) const {
  SLUICE_ASSERT(leaf.slot().tape == this, "tape: a value of another tape, or of none, was asked for");
  return nodes_[leaf.slot().index].grad;
}

Var use(const Context& context, const Parameter& parameter) {
  const bool watched =
      context.tape != nullptr && context.tape->parameter_gradients() == ParameterGradients::Wanted;
  return watched ? context.tape->watch(parameter) : Var(parameter.value);
}

Var result(const Context& context, Tensor value, std::initializer_list<Slot> operands,
           BackwardFunction backward) {
  const bool wanted = std::ranges::any_of(operands, [](Slot slot) { return static_cast<bool>(slot); });
  if (context.tape == nullptr || !wanted) return Var(std::move(value));
  return context.tape->record(std::move(value), std::move(backward));
}

}  // namespace sluice
