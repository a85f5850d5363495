// The attention half of a block: projections, norms, rotation, gates at five positions, the controls of the
// paper.
#pragma once

#include <map>
#include <optional>

#include "sluice/nn/gate.h"
#include "sluice/ops/attention.h"
#include "sluice/ops/norm_rope.h"
#include "sluice/ops/sequences.h"

namespace sluice {

// Keys and values of the tokens so far, for one layer of one sequence.
struct KvCache {
  Tensor k, v;         // [capacity, K · hd]
  int64_t length = 0;  // rows in use
};

// Where a batch's tokens stand.
struct Placement {
  Rotary rotary;
  Sequences sequences;
  int64_t past = 0;  // tokens before them, in a cache
};

// Where in a model an attention layer is applied.
struct AttentionCall {
  int64_t layer = 0;
  const Placement& placement;
  // The new keys and values are appended to it and the queries see all of it; the batch is then one sequence.
  KvCache* cache = nullptr;
  Var residual = {};  // added to the output; a default Var is none
};

struct AttentionLayer {
  int64_t heads = 0, kv_heads = 0;
  Linear q, k, v, o;
  Norm q_norm, k_norm;
  Norm head_norm;          // control: norm of each head's output
  bool head_silu = false;  // control: SiLU on the output
  std::map<GatePosition, Gate> gates;

  // x [N, D] is the block's input after its norm.
  Var apply(const Context& context, const Var& x, const AttentionCall& call);

  // Whether apply() can take a residual: nothing stands behind the output projection.
  bool ends_in_projection() const { return !gates.contains(GatePosition::G5); }

 private:
  struct Projected {
    Var q, k, v;
    std::map<GatePosition, Var> scores;
  };
  Projected project(const Context& context, const Var& x);
  void rotate(const Context& context, const AttentionCall& call, Projected& projected);
  Var gated(const Context& context, GatePosition position, const AttentionCall& call, const Projected& from,
            const Var& y);
  bool gates_while_mixing(const Context& context, int64_t layer) const;
  Var mix(const Context& context, const Projected& projected, const AttentionCall& call);
  Var watch(const Context& context, const AttentionCall& call, const AttentionInputs& inputs,
            AttentionOptions options) const;
  Var controlled(const Context& context, const Var& mixed, const Placement& placement);
};

}  // namespace sluice
