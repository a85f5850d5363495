// The half of a block that moves information between tokens: attention today. A new kind is a type of its own
// beside nn/attention.h, and a case in model/architecture.cpp.
#pragma once

#include "sluice/nn/counts.h"
#include "sluice/nn/parameters.h"
#include "sluice/nn/pass.h"

namespace sluice {

// What a mixer has made of its input before the gate of its output: enough to go on from there, as often as
// one likes. Each kind of mixer has its own.
class MixedTokens {
 public:
  virtual ~MixedTokens() = default;

  // Of so many sequences that are all the same, one after the other. Without a tape.
  virtual std::unique_ptr<MixedTokens> repeated(const Context& context, int64_t count) const = 0;
};

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

  // apply() in two steps. Null if this kind of mixer has no such place to go on from.
  virtual std::unique_ptr<MixedTokens> mix(const Context& /*context*/, const Var& /*x*/,
                                           const LayerCall& /*call*/) const {
    return nullptr;
  }
  virtual LayerOutput finish(const Context& /*context*/, const MixedTokens& /*mixed*/,
                             const LayerCall& /*call*/) const {
    SLUICE_ASSERT(false, "mixer: nothing to go on from");
    return {};
  }

  // Whether apply() can take a residual: nothing happens to the output behind its last projection.
  virtual bool takes_residual() const = 0;
};

}  // namespace sluice
