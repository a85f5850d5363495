// The half of a block that moves information between tokens: attention today. A new kind is a type of its own
// beside nn/attention.h, and a case in model/architecture.cpp.
#pragma once

#include "sluice/nn/counts.h"
#include "sluice/nn/parameters.h"
#include "sluice/nn/pass.h"

namespace sluice {

class Mixer {
 public:
  virtual ~Mixer() = default;

  // In the order of a checkpoint; names begin with "model.layers.N.".
  virtual void list_parameters(ParameterList& list, const std::string& layer) = 0;
  virtual LayerCounts counts() const = 0;

  // Room for what the layer remembers of one sequence of at most `capacity` tokens.
  virtual std::unique_ptr<LayerState> make_state(const Context& context, int64_t capacity) const = 0;

  // x [N, D] is the block's input after its norm.
  virtual LayerOutput apply(const Context& context, const Var& x, const LayerCall& call) const = 0;

  // Whether apply() can take a residual: nothing happens to the output behind its last projection.
  virtual bool takes_residual() const = 0;
};

}  // namespace sluice
