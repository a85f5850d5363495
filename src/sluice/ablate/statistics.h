// What several measurements of one thing say about it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace sluice {

struct MeanInterval {
  int64_t count = 0;
  double mean = 0;
  std::optional<double> half_width = {};  // of the 95 % interval; one value alone has none
};

// With Student's t distribution: the values count as independent draws of a normal one. At least one value.
MeanInterval mean_interval(std::span<const double> values);

}  // namespace sluice
