// Products of groups of rows, each group with a weight of its own, in whatever form the weights are kept. How
// a group's is computed is decided by product_path(), as everywhere; all groups are one loop over all
// threads.
//
// Shapes: G groups, R rows in all; weights [M, K], x [R, K], y and dy [R, M].
#pragma once

#include "sluice/ops/grouped_input.h"

namespace sluice {

// x · weightᵀ by group.
template <class T>
Tensor multiply_forward(const Context& context, GroupedInput& x, std::span<const Weight> weights);

// dy · weight by group. Not for narrow weights: they have no gradient.
template <class T>
Tensor multiply_backward(const Context& context, const Tensor& dy, const RowGroups& groups,
                         std::span<const Weight> weights);

// dyᵀ · x by group, for the destinations that are defined.
template <class T>
void multiply_gradient(const Context& context, const Tensor& dy, GroupedInput& x,
                       std::span<const Destination> to);

}  // namespace sluice
