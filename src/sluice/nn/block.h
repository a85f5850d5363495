// A block of the decoder: a mixer and a feed-forward part, each behind a norm and added to the stream.
#pragma once

#include <optional>
#include <span>

#include "sluice/nn/feed_forward.h"
#include "sluice/nn/mixer.h"

namespace sluice {

struct BlockShape {
  int64_t hidden = 0;
  NormOptions norm = {};
  bool sandwich_norm = false;       // also norms on the outputs of both parts
  std::optional<double> clip = {};  // control: the parts' outputs clipped to ± this
};

// Of a block's own norms; its parts count themselves.
LayerCounts block_norm_counts(const BlockShape& shape);

// Undefined ones are left out; a default Var if nothing is left.
Var sum_of_losses(const Context& context, std::span<const Var> losses);

class Block {
 public:
  Block(const BlockShape& shape, std::unique_ptr<Mixer> mixer, std::unique_ptr<FeedForward> feed_forward);

  const Mixer& mixer() const { return *mixer_; }

  void list_parameters(ParameterList& list, const std::string& layer);
  LayerCounts counts() const;

  // x [N, D] is the stream; `call` has no residual.
  LayerOutput apply(const Context& context, const Var& x, const LayerCall& call) const;

  // The same in steps, for whoever goes on several times from a place inside. Up to the gate of the mixer's
  // output, null if the mixer cannot stop there; from there to the stream between the two halves, before its
  // tap; from there on.
  std::unique_ptr<MixedTokens> mix(const Context& context, const Var& x, const LayerCall& call) const;
  LayerOutput middle(const Context& context, const Var& x, const MixedTokens& mixed,
                     const LayerCall& call) const;
  LayerOutput middle(const Context& context, const Var& x, const LayerCall& call) const;
  LayerOutput finish(const Context& context, const LayerOutput& middle, const LayerCall& call) const;

 private:
  struct Branch;
  Branch mixing() const;
  Branch feeding() const;
  // The stream with the branch added to it, which `part` makes for the call that it is given.
  template <class Part>
  LayerOutput add_branch(const Context& context, const Var& stream, const LayerCall& call,
                         const Branch& branch, const Part& part) const;

  BlockShape shape_;
  Norm mixer_norm_, feed_forward_norm_;
  Norm mixer_out_norm_, feed_forward_out_norm_;  // sandwich norm
  std::unique_ptr<Mixer> mixer_;
  std::unique_ptr<FeedForward> feed_forward_;
};

}  // namespace sluice
