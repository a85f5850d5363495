#include "sluice/nn/tap.h"

namespace sluice {

std::string TapName::text() const {
  return layer == kNoLayer ? std::string(point) : fmt::format("layers.{}.{}", layer, point);
}

namespace {

// The tap's node: the probe receives the gradient on its way to what the value was computed from. Recorded
// even if nothing before it wants a gradient.
Var record_tap(const Context& context, const Tap& at, const Var& value, const Tensor& after) {
  return context.tape->record(
      after.reshaped(value.shape()), [probe = context.probe, at, value = value.value(), shape = after.shape(),
                                      slot = value.slot()](Gradients& gradients) {
        const Tensor passed = probe->receive(gradients.context(), at.name(),
                                             {value.reshaped(shape), gradients.dy().reshaped(shape)});
        if (passed.defined()) gradients.add(slot, passed.reshaped(value.shape()));
      });
}

}  // namespace

Var tap(const Context& context, const Tap& at, const Shape& shape, const Var& value) {
  if (!is_probed(context, at)) return value;
  const Tensor before = value.value().reshaped(shape);
  const Tensor after = context.probe->visit(context, at.name(), before);
  SLUICE_ASSERT(after.shape() == shape, "tap {}: the probe returned {}, not {}", at.name().text(),
                after.shape().text(), shape.text());
  if (context.tape != nullptr && context.probe->wants_gradient(at.name()))
    return record_tap(context, at, value, after);
  return after.shares_elements(before) ? value : Var(after.reshaped(value.shape()));
}

void show(const Context& context, const Tap& at, const Tensor& value) {
  const Tensor after = context.probe->visit(context, at.name(), value);
  SLUICE_ASSERT(after.shares_elements(value), "tap {}: can only be read", at.name().text());
}

Var tap(const Context& context, const Tap& at, const Var& value) {
  return tap(context, at, value.shape(), value);
}

}  // namespace sluice
