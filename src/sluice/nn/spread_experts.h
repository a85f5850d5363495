// Experts that are spread over ranks: what a sparse layer asks of whoever knows where they are
// (dist/expert_exchange.h).
#pragma once

#include <functional>

#include "sluice/base/threads.h"
#include "sluice/ops/experts.h"

namespace sluice {

class SpreadExperts {
 public:
  virtual ~SpreadExperts() = default;

  // The weights of some experts of a layer, on the tape of the context if it has one.
  using Weights = std::function<ExpertWeights(const Context&, Range experts)>;

  // What expert_mlps() gives with all weights at hand, bit by bit. Every rank asks for the same layers in the
  // same order.
  virtual Var mlps(const Context& context, const Var& x, const ExpertRows& rows, const Weights& weights) = 0;
};

}  // namespace sluice
