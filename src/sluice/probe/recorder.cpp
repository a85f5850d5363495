#include "sluice/probe/recorder.h"

#include <algorithm>

namespace sluice {

bool Recorder::wants(const TapName& name) const {
  return std::ranges::find(points_, name.point) != points_.end();
}

Tensor Recorder::visit(const Context&, const TapName& name, const Tensor& value) {
  // The key's text must outlive the visit: ours does, the caller's may not.
  const std::string_view point = *std::ranges::find(points_, name.point);
  values_[{name.layer, point}].push_back(value);
  return value;
}

const std::vector<Tensor>& Recorder::at(const TapName& name) const {
  static const std::vector<Tensor> none;
  const auto found = values_.find({name.layer, name.point});
  return found == values_.end() ? none : found->second;
}

}  // namespace sluice
