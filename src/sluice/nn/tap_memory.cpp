#include "sluice/nn/tap_memory.h"

#include <algorithm>

#include "sluice/nn/tap_points.h"

namespace sluice {
namespace {

bool is_read_only(std::string_view name) {
  const auto found = std::ranges::find(points::kAll, name, &TapPoint::name);
  return found != points::kAll.end() && found->access == TapAccess::ReadOnly;
}

}  // namespace

bool TapMemory::wants(const TapName& name) const {
  return repeats_ ? seen_.contains(name.text()) : probe_->wants(name);
}

Tensor TapMemory::visit(const Context& context, const TapName& name, const Tensor& value) {
  if (repeats_) {
    const Tensor& replacement = seen_.at(name.text()).replacement;
    return replacement.defined() ? replacement : value;
  }
  const Tensor seen = probe_->visit(context, name, value);
  // Nothing is computed from it, so it need not be there a second time.
  if (is_read_only(name.point)) return seen;
  seen_[name.text()] = {.replacement = seen.shares_elements(value) ? Tensor() : seen,
                        .wants_gradient = probe_->wants_gradient(name)};
  return seen;
}

// Not asked of the real one a second time: without a wish for gradients it may be gone by then.
bool TapMemory::wants_gradient(const TapName& name) const {
  const auto found = seen_.find(name.text());
  return found != seen_.end() && found->second.wants_gradient;
}

Tensor TapMemory::receive(const Context& context, const TapName& name, const TapGradient& at) {
  return probe_->receive(context, name, at);
}

}  // namespace sluice
