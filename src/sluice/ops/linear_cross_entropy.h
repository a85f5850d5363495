// The output layer and its loss in one: logits exist only for a few rows at a time.
#pragma once

#include "sluice/kernels/loss.h"
#include "sluice/ops/weight.h"

namespace sluice {

struct LinearCrossEntropyOptions {
  int64_t chunk = 256;  // rows whose logits exist at once: 256 × 32,000 in f32 are 31 MiB
};

// Mean over the targets of -log softmax(x[N, D] · weight[V, D]ᵀ)[target], a tensor of rank 0. targets[N]
// (i32) lie in [0, V) or are kIgnoredTarget; with no target left the loss is 0. Backward computes the logits
// a second time, which costs one product more but no memory.
Var linear_cross_entropy(const Context& context, const Var& x, const Weight& weight, const Tensor& targets,
                         const LinearCrossEntropyOptions& options = {});

}  // namespace sluice
