// How many directions a head's linear maps have: its value projection, its part of the output projection, and
// the two in a row, which without a gate between them are one linear map.
#pragma once

#include <cstdint>
#include <vector>

#include "sluice/analysis/prompt_view.h"

namespace sluice {

// Largest first.
using SingularValues = std::vector<double>;

struct HeadRank {
  SingularValues value, output, product;
  SingularValues gates = {};  // of the gate's values on a prompt, [T, w]; none without a gate
};

// Those above this share of the largest.
constexpr double kRankTolerance = 1e-5;
int64_t rank_of(const SingularValues& values);

// A matrix [rows, columns]; there are as many values as the smaller of the two.
SingularValues singular_values(const std::vector<double>& matrix, int64_t columns);

struct HeadRankRequest {
  int64_t layer = 0, head = 0;
  std::string_view position;  // of the gate
};

// Usage error for a head that the layer does not have. Bad input if the weights are kept in int8: these are
// not the model's own.
HeadRank head_rank(const LoadedModel& model, const LayerDetail& detail, const HeadRankRequest& request);

}  // namespace sluice
