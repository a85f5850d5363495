// A small transformer with a gate at every position, built from ops alone, and the task it learns.
#pragma once

#include <memory>
#include <vector>

#include "sluice/ops/norm_rope.h"
#include "sluice/ops/recompute.h"
#include "sluice/ops/sequences.h"

namespace sluice::test {

// Shapes: D hidden, H query heads, K key/value heads, hd head_dim, F feed-forward, V vocabulary, T tokens.
class ToyModel {
 public:
  static constexpr int64_t kHidden = 24, kHeads = 4, kKvHeads = 2, kHeadDim = 6, kFeedForward = 40;
  static constexpr int64_t kVocabulary = 12, kLength = 12, kBatch = 6, kBlocks = 2;

  explicit ToyModel(Engine& engine);

  // Mean loss of one batch; its gradients are added to the parameters'.
  float train_step(int step, Activations activations);

  // Adam with fixed settings, then gradients are cleared.
  void update(int step);

  const std::vector<std::unique_ptr<Parameter>>& parameters() const { return parameters_; }

 private:
  struct BlockWeights {
    Parameter *attention_norm, *q, *k, *v, *o, *q_norm, *k_norm, *mlp_norm, *gate, *up, *down;
    Parameter *g1, *g2, *g3, *g4, *g5;
  };

  Parameter* make(const std::string& name, const Shape& shape, float mean, float std);
  BlockWeights make_block(const std::string& prefix);
  Var attention_part(const Context& context, const BlockWeights& w, const Var& x) const;
  Var block(const Context& context, const BlockWeights& w, const Var& x) const;

  Engine& engine_;
  std::vector<std::unique_ptr<Parameter>> parameters_;
  std::vector<Tensor> first_moments_, second_moments_;
  Parameter* embedding_;
  Parameter* head_;
  std::vector<BlockWeights> blocks_;
  Sequences sequences_;
  Rotary rotary_;
};

}  // namespace sluice::test
