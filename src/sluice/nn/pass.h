// One forward pass: which tokens there are, where they stand, and what earlier passes left behind.
#pragma once

#include <memory>
#include <vector>

#include "sluice/ops/norm_rope.h"
#include "sluice/ops/sequences.h"

namespace sluice {

// What one layer remembers of the tokens so far. Each kind of mixer has its own.
class LayerState {
 public:
  virtual ~LayerState() = default;
};

// What a model remembers of one sequence while it grows. The position of the next token is here alone.
struct DecoderState {
  int64_t tokens = 0;    // seen so far
  int64_t capacity = 0;  // of tokens that there is room for
  std::vector<std::unique_ptr<LayerState>> layers = {};
};

struct RouterTraining;  // nn/expert_loads.h

// Where a batch's tokens stand.
struct Pass {
  Sequences sequences;
  Rotary rotary;
  DecoderState* state = nullptr;  // none: every sequence begins here; else there is one, which goes on
  const RouterTraining* routers = nullptr;  // none: nobody asks for a loss of theirs

  int64_t past() const { return state == nullptr ? 0 : state->tokens; }  // tokens of earlier passes
};

// How a block asks its parts.
struct LayerCall {
  int64_t layer = 0;
  const Pass& pass;
  Var residual = {};  // to be added to the output; a default Var is none

  // Of this layer; none if nothing is remembered.
  LayerState* state() const {
    return pass.state == nullptr ? nullptr : pass.state->layers[static_cast<size_t>(layer)].get();
  }
};

// What a part of a block, or all of them, makes of its input.
struct LayerOutput {
  Var y;                    // [N, D]
  Var auxiliary_loss = {};  // a scalar to be added to the loss, weighted already; a default Var is none
};

}  // namespace sluice
