#include "sluice/nn/tap.h"

namespace sluice {

std::string TapName::text() const {
  return layer == kNoLayer ? std::string(point) : fmt::format("layers.{}.{}", layer, point);
}

Var tap(const Context& context, const TapName& name, const Shape& shape, const Var& value) {
  if (!watched(context, name)) return value;
  const Tensor before = value.value().reshaped(shape);
  const Tensor after = context.probe->visit(context, name, before);
  SLUICE_ASSERT(after.shape() == shape, "tap {}: the probe returned {}, not {}", name.text(),
                after.shape().text(), shape.text());
  return after.shares_elements(before) ? value : Var(after.reshaped(value.shape()));
}

}  // namespace sluice
