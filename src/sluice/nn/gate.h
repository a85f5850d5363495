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

  // Whether the scores are a linear layer of the block's input, which can share its packing with others.
  bool is_linear() const { return spec.input == GateInput::Token; }

  // Scores [N, …] from the block's input after its norm, [N, D].
  Var scores_of(const Context& context, const Var& input);

  // `y` [N, heads · width] modulated by the scores `raw`. What is applied passes the tap `name`.
  Var apply(const Context& context, const TapName& name, const Var& raw, const Var& y) const;
};

// "attn.gate" for g1, "attn.gate_g2" and so on for the others.
std::string_view tap_point(GatePosition position);

}  // namespace sluice
