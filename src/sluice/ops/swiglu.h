// The gated activation of the feed-forward block.
#pragma once

#include "sluice/ops/tape.h"

namespace sluice {

// silu(gate) · up, element by element.
Var swiglu(const Context& context, const Var& gate, const Var& up);

}  // namespace sluice
