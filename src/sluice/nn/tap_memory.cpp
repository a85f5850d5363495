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
  return probe_ != nullptr ? probe_->wants(name) : replaced_.contains(name.text());
}

Tensor TapMemory::visit(const Context& context, const TapName& name, const Tensor& value) {
  if (probe_ == nullptr) {
    const Tensor& replacement = replaced_.at(name.text());
    return replacement.defined() ? replacement : value;
  }
  const Tensor seen = probe_->visit(context, name, value);
  // Nothing is computed from it, so it need not be there a second time.
  if (is_read_only(name.point)) return seen;
  replaced_[name.text()] = seen.shares_elements(value) ? Tensor() : seen;
  return seen;
}

}  // namespace sluice
