// From a router's probabilities to rows sorted by expert.
//
// Shapes: N tokens, E experts, k experts per token, R = N · k rows: one for each expert that a token chose.
#pragma once

#include "sluice/ops/row_groups.h"
#include "sluice/ops/tape.h"

namespace sluice {

// What becomes of the probabilities of the chosen experts: they stay as they are, or sum up to 1.
enum class ChoiceWeights { Raw, Normalised };

struct ExpertChoice {
  Tensor experts;  // [N, k], i32: the most probable first, of equals the one with the lower index
  Var weights;     // [N, k]
};

// The k largest of each row of `probabilities` [N, E]. The gradient goes through the weights; the choice
// itself has none.
ExpertChoice choose_experts(const Context& context, const Var& probabilities, int64_t k, ChoiceWeights kind);

// The rows that experts work on: those of expert 0, then of expert 1 …, in each the tokens in their order.
struct ExpertRows {
  RowGroups groups;  // one for each expert
  Tensor tokens;     // [R], i32: whose row it is
  Tensor places;     // [N, k], i32: where a choice has its row

  int64_t token_count() const { return places.shape()[0]; }
  int64_t per_token() const { return places.shape()[1]; }
};

ExpertRows sorted_by_expert(const Context& context, const Tensor& experts, int64_t expert_count);

}  // namespace sluice
