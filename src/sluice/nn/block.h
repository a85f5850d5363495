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

 private:
  template <class Part>
  struct Branch;
  // The stream with the branch added to it.
  template <class Part>
  LayerOutput add_branch(const Context& context, const Var& stream, const LayerCall& call,
                         const Branch<Part>& branch) const;

  BlockShape shape_;
  Norm mixer_norm_, feed_forward_norm_;
  Norm mixer_out_norm_, feed_forward_out_norm_;  // sandwich norm
  std::unique_ptr<Mixer> mixer_;
  std::unique_ptr<FeedForward> feed_forward_;
};

}  // namespace sluice
