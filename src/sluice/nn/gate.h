// A gate of a block: its parameters, and how it modulates a tensor.
#pragma once

#include <vector>

#include "sluice/nn/counts.h"
#include "sluice/nn/gate_spec.h"
#include "sluice/nn/parameters.h"

namespace sluice {

// Sizes of a block, from which those of its gates follow.
struct BlockSizes {
  int64_t hidden = 0;
  int64_t heads = 0, kv_heads = 0, head_dim = 0;

  // Heads of the tensor that a gate modulates, and channels of each.
  int64_t gated_heads(GatePosition position) const;
  int64_t gated_width(GatePosition position) const;
  // Scores per token of a gate, and input channels that each is computed from.
  int64_t score_count(const GateSpec& gate) const;
  int64_t score_inputs(const GateSpec& gate) const;

  bool operator==(const BlockSizes&) const = default;
};

class Gate {
 public:
  Gate(const GateSpec& spec, const BlockSizes& sizes);

  const GateSpec& spec() const { return spec_; }
  GatePosition position() const { return spec_.position; }

  void list_parameters(ParameterList& list, const std::string& prefix);
  LayerCounts counts() const;

  // Whether the scores are a linear layer of the block's input, which can share its packing with others.
  bool is_linear() const { return spec_.input == GateInput::Token; }
  LinearWeights weights(const Context& context) const { return scores_.weights(context); }

  // Scores [N, …] from the block's input after its norm, [N, D].
  Var scores_of(const Context& context, const Var& input) const;

  // `y` [N, heads · width] modulated by the scores. What is applied passes the gate's tap.
  Var apply(const Context& context, int64_t layer, const Var& scores, const Var& y) const;

 private:
  GateSpec spec_;
  int64_t heads_;  // of the tensor that it modulates
  int64_t score_count_, score_inputs_;
  Linear scores_;       // token and truncated gates
  Parameter constant_;  // [scores], input-independent gates
};

// The gates that one part of a block applies, at most one at each position.
class GateSet {
 public:
  GateSet() = default;
  GateSet(const std::vector<GateSpec>& specs, const BlockSizes& sizes);

  const std::vector<Gate>& all() const { return gates_; }
  const Gate* at(GatePosition position) const;  // null: none

  void list_parameters(ParameterList& list, const std::string& prefix);
  LayerCounts counts() const;

 private:
  std::vector<Gate> gates_;
};

// A part's gates with their scores for one input, which are computed beside other layers of that input: it is
// packed once for all of them.
class ScoredGates {
 public:
  // Appends the gates' linear layers to `layers` and takes their results away from `results` again.
  ScoredGates(const GateSet& gates, int64_t layer) : gates_(gates), layer_(layer) {}
  void add_layers(const Context& context, std::vector<LinearWeights>& layers) const;
  void take_scores(const Context& context, const Var& input, std::vector<Var>& results);

  const Var& scores(GatePosition position) const;

  // For so many equal sequences, one after the other. Without a tape.
  ScoredGates repeated(const Context& context, int64_t count) const;

  // `y` modulated by the gate at this position, if there is one.
  Var apply(const Context& context, GatePosition position, const Var& y) const;

 private:
  const GateSet& gates_;
  int64_t layer_;
  std::vector<Var> scores_;  // in the order of the set
};

}  // namespace sluice
