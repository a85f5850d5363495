#pragma once

#include <cstdint>

namespace sluice {

// A head of a layer.
struct HeadPlace {
  int64_t layer = 0, head = 0;

  bool operator==(const HeadPlace&) const = default;
};

}  // namespace sluice
