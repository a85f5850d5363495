// Products of groups of rows on packed bf16 operands, each group with a weight of its own. All groups are one
// loop: with the few rows that an expert has, threads would mostly wait at the end of a loop per group.
//
// Shapes: G groups, R rows in all; weights [M, K], x [R, K], y and dy [R, M].
#pragma once

#include <span>

#include "sluice/ops/row_groups.h"
#include "sluice/ops/weight.h"

namespace sluice {

// Every group as an A operand of its own.
struct PackedGroups {
  Tensor tiles;                 // one group after the other
  std::vector<int64_t> starts;  // [G + 1], in elements
  int64_t depth = 0;

  const Bf16* of(int64_t group) const { return tiles.data<Bf16>() + starts[static_cast<size_t>(group)]; }
};

// Rows of x, which lie as the groups do.
PackedGroups packed_groups(const Context& context, const Tensor& x, const RowGroups& groups);

// Rows of x [N, K] that `tokens` [R] names. x is rounded and packed once, whatever the number of groups that
// a row is in; its rows are then copied.
PackedGroups gathered_groups(const Context& context, const Tensor& x, const Tensor& tokens,
                             const RowGroups& groups);

// The B operands: of x · weightᵀ (Transpose::Yes) or of dy · weight (No). Kept ones are used as they are. If
// none are kept, each unit packs its part, which it then finds in a cache: weights are read once.
class GroupWeights {
 public:
  GroupWeights(const Context& context, std::span<const Weight> weights, Transpose transpose,
               const RowGroups& groups);

  // Groups that have rows need their weight; others are not looked at.
  const Bf16* part(const Context& context, const GroupUnit& unit, Tensor& scratch) const;
  bool is_kept() const { return !kept_.empty(); }
  int64_t outputs() const { return outputs_; }
  int64_t depth() const { return depth_; }

 private:
  std::span<const Weight> weights_;
  Transpose transpose_;
  int64_t outputs_ = 0, depth_ = 0;
  std::vector<PackedMatrix> kept_;
};

// y [R, outputs] for one unit, on the calling thread.
void multiply_unit(const Context& context, const PackedGroups& a, const GroupWeights& weights,
                   const GroupUnit& unit, const StoreSums<float>& group_rows);

// Rows of a unit of such a product.
int64_t unit_rows(const GroupWeights& weights);

// Of every group, on all threads.
Tensor multiply_groups(const Context& context, const PackedGroups& a, const RowGroups& groups,
                       const GroupWeights& weights);

// silu(x · gateᵀ) ∘ (x · upᵀ), rounded and packed for the next product.
PackedGroups multiply_swiglu_groups(const Context& context, const PackedGroups& a, const RowGroups& groups,
                                    const GroupWeights& gate, const GroupWeights& up);

// dyᵀ · x by group: the gradients of the weights. A group without rows has one of zeros.
void multiply_gradient_groups(const Context& context, const Tensor& dy, const Tensor& x,
                              const RowGroups& groups, std::span<const Destination> to);

}  // namespace sluice
