// Where a run begins to differ from the unbroken model: everything before that is computed once for all.
#pragma once

#include <compare>
#include <cstdint>
#include <span>

#include "sluice/model/config.h"
#include "sluice/probe/intervention.h"

namespace sluice {

// Places of a block that a run can go on from, in the order of a pass.
enum class BlockEntry {
  Stream,  // what comes into the block
  Mixed,   // attention's output before its gate
  Middle,  // the stream between the two halves of the block
};

struct RunEntry {
  static constexpr int64_t kEmbedding = -1;

  int64_t layer = 0;  // kEmbedding: from the tokens on; as many as there are layers: behind all of them
  BlockEntry from = BlockEntry::Stream;

  auto operator<=>(const RunEntry&) const = default;
};

// The first place that one of them may change.
RunEntry entry_of_run(std::span<const Intervention> interventions, const ModelConfig& config);

}  // namespace sluice
