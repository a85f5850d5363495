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

// Rows of some experts that lie sorted by expert, as another rank sends them.
struct SortedRows {
  RowGroups groups;    // one for each expert
  int64_t tokens = 0;  // of the pass that they are from; it decides how products are computed
};

// The same of such rows. x [R, D] is given twice, once for each of its uses: whoever sent the rows adds up
// the gradients of both in the order in which one rank would.
struct SortedInput {
  Var for_gate, for_up;
};
Var expert_mlps(const Context& context, const SortedInput& x, const SortedRows& rows,
                const ExpertWeights& weights);

// to[t] = Σ over s of rows[places[t, s]], in the order of s, or added to what is there: from gradients of
// rows [R, D] to those of tokens.
void add_rows_of_tokens(const Context& context, const Tensor& rows, const Tensor& places,
                        const Destination& to);

// y[t] = Σ over s of weights[t, s] · outputs[places[t, s]], in the order of s. outputs [R, D], weights [N,
// k].
Var combine_experts(const Context& context, const Var& outputs, const Var& weights, const ExpertRows& rows);

// Rows [R, D] as [N, E, D], a place for every token and expert: zeros where an expert was not chosen.
Var spread_by_expert(const Context& context, const Var& rows, const ExpertRows& order);

// Back to [R, D]: the places of experts that were not chosen are left out.
Var collect_by_expert(const Context& context, const Var& all, const ExpertRows& order);

}  // namespace sluice
