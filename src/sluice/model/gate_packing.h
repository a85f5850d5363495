// Where the official and the Qwen3-Next layouts keep a gate's rows inside q_proj.
#pragma once

#include <vector>

#include "sluice/io/tensor_store.h"
#include "sluice/model/config.h"

namespace sluice {

// Rows of the stored q_proj, in the order in which the separate matrices have them.
struct PackedQuery {
  int64_t rows = 0;  // of the stored matrix
  std::vector<RowRange> query;
  std::vector<RowRange> gate;
};

// For a configuration with a packed gate layout.
PackedQuery packed_query(const ModelConfig& config);

}  // namespace sluice
