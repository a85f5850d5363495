// The shape of a mixture of experts, which can be counted.
#pragma once

#include "sluice/nn/counts.h"

namespace sluice {

struct ExpertsShape {
  int64_t hidden = 0;
  int64_t experts = 0, experts_per_token = 0;
  int64_t width = 0;  // of one expert

  LayerCounts counts() const;
};

inline LayerCounts ExpertsShape::counts() const {
  const int64_t expert = 3 * hidden * width, router = hidden * experts;
  return {.parameters = {.feed_forward = experts * expert,
                         .router = router,
                         .idle = (experts - experts_per_token) * expert},
          .flops = {.products = 2 * (experts_per_token * expert + router)}};
}

}  // namespace sluice
