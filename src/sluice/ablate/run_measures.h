// What one run does to one chunk.
#pragma once

#include "sluice/eval/perplexity.h"

namespace sluice {

struct RunMeasures {
  ChunkNll nll = {};         // sum over the chunk's predicted tokens
  double kl = 0;             // sum over them of KL(unbroken ‖ run), in nats
  int64_t changed_top1 = 0;  // of them: those whose likeliest token is another one than the unbroken model's
  double sink = 0;           // mean over heads and queries of the probability on key 0, then over layers
  double largest_activation = 0;  // largest |block output| of each layer, mean over layers
};

}  // namespace sluice
