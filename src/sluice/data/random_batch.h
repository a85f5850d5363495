// Batches of random tokens: for measuring what training takes, not for training.
#pragma once

#include "sluice/data/packed_sequences.h"

namespace sluice {

struct RandomBatch {
  int64_t sequences = 0, length = 0;
  int64_t vocabulary = 0;
  uint64_t seed = 0;
};

Batch random_batch(const RandomBatch& options);

}  // namespace sluice
