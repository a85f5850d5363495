// The half of a block that works on each token by itself: the MLP, or experts. A new kind is a type of its
// own beside nn/mlp.h, and a case in model/architecture.cpp; a router's loss is its auxiliary_loss.
#pragma once

#include "sluice/nn/counts.h"
#include "sluice/nn/parameters.h"
#include "sluice/nn/pass.h"

namespace sluice {

class FeedForward {
 public:
  virtual ~FeedForward() = default;

  // In the order of a checkpoint; names begin with "model.layers.N.".
  virtual void list_parameters(ParameterList& list, const std::string& layer) = 0;
  virtual LayerCounts counts() const = 0;

  // x [N, D] is the block's stream after its norm.
  virtual LayerOutput apply(const Context& context, const Var& x, const LayerCall& call) const = 0;

  // Whether apply() can take a residual: nothing happens to the output behind its last projection.
  virtual bool takes_residual() const = 0;
};

}  // namespace sluice
