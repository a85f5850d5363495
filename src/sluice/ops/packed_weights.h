// Weights that are packed once and used by many products. Whoever owns such a store promises that the weights
// do not change while it lives: a training step between two updates, or a model that is only run. For the
// thread that runs the ops; kernels get what is packed.
#pragma once

#include <map>

#include "sluice/ops/packed_matrix.h"

namespace sluice {

class PackedWeights {
 public:
  PackedWeights() = default;
  PackedWeights(const PackedWeights&) = delete;
  PackedWeights& operator=(const PackedWeights&) = delete;

  // The B operand of x · weightᵀ (Transpose::Yes) or of dy · weight (No), for a weight [M, K] in f32 or bf16.
  // Packed when it is asked for the first time.
  const PackedMatrix& operand(const Context& context, const Tensor& weight, Transpose transpose);

  // The same if it has been packed already, or none.
  const PackedMatrix* find(const Tensor& weight, Transpose transpose) const;

 private:
  struct Entry {
    Tensor weight;  // kept: another tensor at its address would be taken for it
    PackedMatrix packed;
  };
  using Key = std::pair<const void*, Transpose>;

  std::map<Key, Entry> entries_;
};

// Whether products with this weight run on packed operands: it is in bf16, or the context rounds to bf16.
bool multiplies_tiles(const Context& context, const Tensor& weight);

// The operand from the context's store, or packed for this one use.
PackedMatrix packed_weight(const Context& context, const Tensor& weight, Transpose transpose);

struct WeightOperand {
  const Tensor& weight;
  Transpose transpose = Transpose::Yes;
};

// x · weightᵀ or x · weight with the weight from the context's store, or packed part by part.
void multiply_weight(const Context& context, const PackedMatrix& x, const WeightOperand& weight,
                     const StoreSums<float>& to);

}  // namespace sluice
