#include "sluice/probe/recorder.h"

#include <algorithm>

namespace sluice {

bool Recorder::wants(const TapName& name) const {
  return std::ranges::any_of(patterns_, [&](const TapPattern& pattern) { return pattern.matches(name); });
}

Tensor Recorder::visit(const Context&, const TapName& name, const Tensor& value) {
  values_[{name.layer, std::string(name.point)}].push_back(value);
  return value;
}

const std::vector<Tensor>& Recorder::at(const TapName& name) const {
  static const std::vector<Tensor> none;
  const auto found = values_.find({name.layer, std::string(name.point)});
  return found == values_.end() ? none : found->second;
}

}  // namespace sluice
