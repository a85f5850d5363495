// The first columns of a matrix.
#pragma once

#include "sluice/ops/tape.h"

namespace sluice {

// x[N, D] → [N, count], count <= D. The input of a truncated gate.
Var take_columns(const Context& context, const Var& x, int64_t count);

}  // namespace sluice
