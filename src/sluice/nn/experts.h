// The sparse feed-forward part: a router sends each token to k of E small perceptrons and weighs what they
// make of it. Perhaps one more, shared, that every token goes through. No token is dropped.
#pragma once

#include <vector>

#include "sluice/nn/experts_shape.h"
#include "sluice/nn/feed_forward.h"
#include "sluice/nn/gate.h"
#include "sluice/ops/experts.h"

namespace sluice {

class Experts : public FeedForward {
 public:
  // Gates whose position belongs to this part modulate the output.
  explicit Experts(const ExpertsShape& shape, GateSet gates = {});

  void list_parameters(ParameterList& list, const std::string& layer) override;
  LayerCounts counts() const override;
  LayerOutput apply(const Context& context, const Var& x, const LayerCall& call) const override;
  bool takes_residual() const override { return false; }

 private:
  struct Perceptron {
    Linear gate, up, down;

    void list_parameters(ParameterList& list, const std::string& prefix, const MlpShape& shape);
  };
  // The router's sides, for the loss.
  struct Routed {
    Var scores, probabilities;  // [N, E]
    const ExpertRows& rows;
  };

  ExpertWeights weights(const Context& context, Range experts) const;
  Var routed(const Context& context, const Var& x, const Routed& to, const ExpertChoice& choice,
             const LayerCall& call) const;
  Var shared(const Context& context, const Var& x, int64_t layer) const;
  Var loss(const Context& context, const Routed& routed, const LayerCall& call) const;

  ExpertsShape shape_;
  Linear router_;
  std::vector<Perceptron> experts_;
  Perceptron shared_;
  Linear shared_gate_;
  GateSet gates_;
};

}  // namespace sluice
