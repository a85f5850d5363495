// Finding values that are not finite (NaN, infinities) among stored elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "sluice/base/threads.h"
#include "sluice/io/stored_type.h"

namespace sluice {

struct NonFiniteElement {
  int64_t index = 0;  // in row-major order
  float value = 0;    // NaN, inf or -inf
};

// The first of `bytes`, which need not be aligned and are elements of a readable type. Bounded by the memory:
// it looks at exponents only.
std::optional<NonFiniteElement> first_nonfinite(std::span<const std::byte> bytes, StoredType type,
                                                const Threads& threads);

}  // namespace sluice
