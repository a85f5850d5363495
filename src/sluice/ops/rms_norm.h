// Root-mean-square norm.
#pragma once

#include "sluice/ops/tape.h"

namespace sluice {

// How the stored weight w is applied: as w, or as 1 + w (Qwen3-Next, Gemma: zero-centred weights).
enum class WeightStyle { Plain, OnePlus };

struct NormOptions {
  double eps = 1e-6;
  WeightStyle style = WeightStyle::Plain;

  double offset() const { return style == WeightStyle::OnePlus ? 1.0 : 0.0; }
};

// Each row of x[N, D] divided by its root mean square and scaled by weight[D].
Var rms_norm(const Context& context, const Var& x, const Var& weight, const NormOptions& options = {});

}  // namespace sluice
