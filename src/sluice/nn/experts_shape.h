// The shape of a mixture of experts.
#pragma once

#include "sluice/nn/mlp.h"
#include "sluice/ops/routing.h"

namespace sluice {

struct ExpertsShape {
  int64_t hidden = 0;
  int64_t experts = 0, experts_per_token = 0;
  int64_t width = 0;  // of one expert
  ChoiceWeights weights = ChoiceWeights::Raw;
  int64_t shared_width = 0;  // of an expert that every token goes through; 0: none
  bool shared_gate = true;   // a sigmoid of the token scales its output

  bool has_shared() const { return shared_width > 0; }
  MlpShape shared() const { return {.hidden = hidden, .width = shared_width}; }
  LayerCounts counts() const;
};

inline LayerCounts ExpertsShape::counts() const {
  const int64_t expert = 3 * hidden * width;
  const int64_t router = hidden * (experts + (has_shared() && shared_gate ? 1 : 0));
  LayerCounts counts{.parameters = {.feed_forward = experts * expert,
                                    .router = router,
                                    .idle = (experts - experts_per_token) * expert},
                     .flops = {.products = 2 * (experts_per_token * expert + router)}};
  if (has_shared()) counts += shared().counts();
  return counts;
}

}  // namespace sluice
