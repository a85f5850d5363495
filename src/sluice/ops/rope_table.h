// Cosines and sines of the rotary position embedding.
#pragma once

#include <vector>

#include "sluice/ops/context.h"

namespace sluice {

struct RopeTable {
  Tensor cos;  // [positions, rotary / 2]
  Tensor sin;
};

struct RopeTableOptions {
  int64_t positions = 0;                 // rows of the table
  int64_t first_position = 0;            // of its first row
  std::vector<double> frequencies = {};  // radians per position, one for each pair of channels
  double amplitude = 1.0;                // of both; YaRN makes it larger than 1
};

RopeTable rope_table(const Context& context, const RopeTableOptions& options, DType dtype);

// base^(-2c / rotary) for each pair c of `rotary` channels.
std::vector<double> rope_frequencies(int64_t rotary, double base);

}  // namespace sluice
