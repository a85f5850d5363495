// The dense feed-forward part: down(silu(gate(x)) · up(x)).
#pragma once

#include "sluice/nn/feed_forward.h"
#include "sluice/nn/gate.h"

namespace sluice {

struct MlpShape {
  int64_t hidden = 0, width = 0;

  LayerCounts counts() const;
};

class Mlp : public FeedForward {
 public:
  // Gates whose position belongs to this part modulate the output.
  explicit Mlp(const MlpShape& shape, GateSet gates = {}) : shape_(shape), gates_(std::move(gates)) {}

  void list_parameters(ParameterList& list, const std::string& layer) override;
  LayerCounts counts() const override;
  LayerOutput apply(const Context& context, const Var& x, const LayerCall& call) const override;
  bool takes_residual() const override { return gates_.all().empty(); }

 private:
  MlpShape shape_;
  Linear gate_, up_, down_;
  GateSet gates_;
};

}  // namespace sluice
