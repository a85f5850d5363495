// Probabilities of a router.
#pragma once

#include "sluice/ops/tape.h"

namespace sluice {

// Of each row of x [N, E].
Var softmax(const Context& context, const Var& x);

}  // namespace sluice
