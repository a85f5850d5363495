// Clipping, a control for gating: does bounding a block's output do what the gate does?
#pragma once

#include "sluice/ops/tape.h"

namespace sluice {

// Every element moved into [-limit, limit]. No gradient flows where it was outside.
Var clip(const Context& context, const Var& x, double limit);

}  // namespace sluice
