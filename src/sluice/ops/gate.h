// The gate on a tensor, given its scores. Where the scores come from is nn's business.
#pragma once

#include "sluice/kernels/gate.h"
#include "sluice/ops/tape.h"

namespace sluice {

// x[N, heads · hd] times (or plus) the activated scores[N, heads · score_width].
Var gate(const Context& context, const Var& x, const Var& scores, int64_t heads, const GateForm& form);

// What gate() would apply, [N, heads · score_width]. To apply it, or changed values, hand them to gate() as
// scores with Activation::Identity and Sharing::Specific: the result is bitwise that of one step.
Var gate_values(const Context& context, const Var& scores, int64_t heads, const GateForm& form);

}  // namespace sluice
