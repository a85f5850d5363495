// The experts of a mixture: gated perceptrons, each for the tokens that chose it.
//
// Shapes: N tokens, D hidden, R rows sorted by expert (ops/routing.h), k experts per token.
#pragma once

#include "sluice/ops/mlp.h"
#include "sluice/ops/routing.h"

namespace sluice {

// The weights of all experts, by their number.
struct ExpertWeights {
  std::vector<Weight> gate, up, down;
};

// down(silu(gate(x)) · up(x)) of each row's expert: [R, D], as the rows lie. x [N, D] is in the order of the
// tokens. An expert without rows gets gradients of zeros.
Var expert_mlps(const Context& context, const Var& x, const ExpertRows& rows, const ExpertWeights& weights);

// y[t] = Σ over s of weights[t, s] · outputs[places[t, s]], in the order of s. outputs [R, D], weights [N,
// k].
Var combine_experts(const Context& context, const Var& outputs, const Var& weights, const ExpertRows& rows);

// Rows [R, D] as [N, E, D], a place for every token and expert: zeros where an expert was not chosen.
Var spread_by_expert(const Context& context, const Var& rows, const ExpertRows& order);

// Back to [R, D]: the places of experts that were not chosen are left out.
Var collect_by_expert(const Context& context, const Var& all, const ExpertRows& order);

}  // namespace sluice
