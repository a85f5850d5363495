// Per-head norm and rotary position embedding of queries or keys, in one pass.
#pragma once

#include "sluice/ops/rms_norm.h"
#include "sluice/ops/rope_table.h"
#include "sluice/ops/tape.h"

namespace sluice {

// Where the tokens stand: token n at row positions[n] (i32) of the table.
struct Rotary {
  RopeTable table;
  Tensor positions;  // [N]
};

struct NormRopeOptions {
  int64_t heads = 0;
  NormOptions norm = {};
};

// y = rotate(norm(x)) for each head of x[N, heads · hd]. The table may turn fewer channels than hd (partial
// rotary). A default Var as weight[hd] leaves the norm out.
Var norm_rope(const Context& context, const Var& x, const Var& weight, const Rotary& rotary,
              const NormRopeOptions& options);

}  // namespace sluice
