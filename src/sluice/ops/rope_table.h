// Cosines and sines of the rotary position embedding.
#pragma once

#include "sluice/ops/context.h"

namespace sluice {

struct RopeTable {
  Tensor cos;  // [positions, rotary / 2]
  Tensor sin;
};

struct RopeTableOptions {
  int64_t positions = 0;
  int64_t rotary = 0;  // channels that turn; even
  double base = 10000.0;
};

// Channel pair c turns by position · base^(-2c / rotary).
RopeTable rope_table(const Context& context, const RopeTableOptions& options, DType dtype);

}  // namespace sluice
