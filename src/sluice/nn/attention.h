// Attention as a mixer: projections, norms, rotation, gates at five positions, the controls of the paper.
#pragma once

#include "sluice/nn/gate.h"
#include "sluice/nn/mixer.h"
#include "sluice/ops/attention.h"

namespace sluice {

struct AttentionLayerShape {
  BlockSizes sizes;
  NormOptions norm = {};
  bool qk_norm = true;
  bool qkv_bias = false, o_bias = false;
  bool head_norm = false;  // control: norm of each head's output
  bool head_silu = false;  // control: SiLU on the output
  std::vector<GateSpec> gates = {};
};

// Keys and values of the tokens so far.
struct KeyValueState : LayerState {
  Tensor k, v;  // [capacity, K · hd]
};

class Attention : public Mixer {
 public:
  explicit Attention(const AttentionLayerShape& shape);

  void list_parameters(ParameterList& list, const std::string& layer) override;
  LayerCounts counts() const override;
  std::unique_ptr<LayerState> make_state(const Context& context, int64_t capacity) const override;
  LayerOutput apply(const Context& context, const Var& x, const LayerCall& call) const override;
  std::unique_ptr<MixedTokens> mix(const Context& context, const Var& x,
                                   const LayerCall& call) const override;
  LayerOutput finish(const Context& context, const MixedTokens& mixed, const LayerCall& call) const override;
  bool takes_residual() const override;

 private:
  struct Projected {
    Var q, k, v;
    ScoredGates gates;
  };
  Projected project(const Context& context, const Var& x, int64_t layer) const;
  void rotate(const Context& context, const LayerCall& call, Projected& projected) const;
  bool gates_while_mixing(const Context& context, int64_t layer) const;
  Var attend(const Context& context, const Projected& projected, const LayerCall& call,
             const Gate* gate = nullptr) const;
  Var gated(const Context& context, const Var& mixed, const ScoredGates& gates, const LayerCall& call) const;
  LayerOutput output(const Context& context, const Var& gated, const ScoredGates& gates,
                     const LayerCall& call) const;
  Var with_controls(const Context& context, const Var& mixed, const Pass& pass) const;

  AttentionLayerShape shape_;
  Linear q_, k_, v_, o_;
  Norm q_norm_, k_norm_, head_norm_;
  GateSet gates_;
};

}  // namespace sluice
