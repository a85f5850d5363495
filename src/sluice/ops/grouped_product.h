// Products of groups of rows, each group with a weight of its own, in whatever form the weights are kept. How
// a group's is computed is decided by product_path(), as everywhere; all groups are one loop over all
// threads.
//
// Shapes: G groups, R rows in all; weights [M, K], x [R, K], y and dy [R, M].
#pragma once

#include "sluice/ops/grouped_tiles.h"

namespace sluice {

// The input of products by group, in the forms that they need; each is made once.
class GroupedInput {
 public:
  // Rows as the groups have them, or the rows of x [N, K] that `tokens` [R] names.
  explicit GroupedInput(Tensor x, RowGroups groups, Tensor tokens = {})
      : x_(std::move(x)), groups_(std::move(groups)), tokens_(std::move(tokens)) {}

  const RowGroups& groups() const { return groups_; }
  const Tensor& unsorted() const { return x_; }
  const Tensor& tokens() const { return tokens_; }

  const Tensor& rows(const Context& context);     // [R, K]
  const Tensor& rounded(const Context& context);  // to bf16, as f32
  const PackedGroups& packed(const Context& context);
  const QuantizedInput& quantized(const Context& context);

  // Between values and gradients only x itself is kept.
  void drop_forms();

 private:
  Tensor x_;
  RowGroups groups_;
  Tensor tokens_;
  Tensor rows_, rounded_;
  PackedGroups packed_;
  QuantizedInput quantized_;
};

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
