// What each rank computes in a step that is measured.
#pragma once

#include <vector>

#include "sluice/train/run_config.h"
#include "sluice/train/trainer.h"

namespace sluice::bench {

struct ScaleSetting {
  bool weak;
  ReduceOrder order;
  int64_t sequences;  // of a step
  int64_t passes;     // that they are cut into; the same for any number of ranks
};

// This rank's passes of a step on random tokens. In the exact order a pass is a share of the largest group,
// or the bits would depend on the ranks; else a rank's sequences are one pass.
std::vector<Batch> own_batches(const RunConfig& config, const ScaleSetting& setting, const Ranks& ranks,
                               OwnPasses& own);

}  // namespace sluice::bench
