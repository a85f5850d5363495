// The input of products by group (ops/grouped_product.h): rows in the order of tokens, or as the groups lie.
//
// Shapes: N tokens, R rows of all groups, K columns.
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

}  // namespace sluice
