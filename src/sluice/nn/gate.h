// A gate of a block: its parameters, and how it modulates a tensor.
#pragma once

#include "sluice/nn/gate_spec.h"
#include "sluice/nn/layers.h"

namespace sluice {

struct Gate {
  GateSpec spec;
  int64_t heads = 0;        // of the tensor that it modulates
  Linear scores;            // token and truncated gates
  Parameter constant = {};  // [scores], input-independent gates

  // `y` [N, heads · width] modulated by scores of `input` [N, D], the block's input after its norm. What is
  // applied passes the tap `name`.
  Var apply(const Context& context, const TapName& name, const Var& input, const Var& y);

 private:
  Var scores_of(const Context& context, const Var& input);
};

// "attn.gate" for g1, "attn.gate_g2" and so on for the others.
std::string_view tap_point(GatePosition position);

}  // namespace sluice
