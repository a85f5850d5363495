#include "sluice/nn/tap.h"

namespace sluice {

std::string TapName::text() const {
  return layer == kNoLayer ? std::string(point) : fmt::format("layers.{}.{}", layer, point);
}

Var tap(const Context& context, const Tap& at, const Shape& shape, const Var& value) {
  if (!is_probed(context, at)) return value;
  const Tensor before = value.value().reshaped(shape);
  const Tensor after = context.probe->visit(context, at.name(), before);
  SLUICE_ASSERT(after.shape() == shape, "tap {}: the probe returned {}, not {}", at.name().text(),
                after.shape().text(), shape.text());
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
