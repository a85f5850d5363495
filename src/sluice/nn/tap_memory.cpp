#include "sluice/nn/tap_memory.h"

namespace sluice {

bool TapMemory::wants(const TapName& name) const {
  return probe_ != nullptr ? probe_->wants(name) : replaced_.contains(name.text());
}

Tensor TapMemory::visit(const Context& context, const TapName& name, const Tensor& value) {
  if (probe_ == nullptr) {
    const Tensor& replacement = replaced_.at(name.text());
    return replacement.defined() ? replacement : value;
  }
  const Tensor seen = probe_->visit(context, name, value);
  // A point may be visited several times: probabilities come one sequence at a time, and are never replaced.
  replaced_[name.text()] = seen.shares_elements(value) ? Tensor() : seen;
  return seen;
}

}  // namespace sluice
