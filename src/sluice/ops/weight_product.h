// Products with a weight, in the precision of the context.
#pragma once

#include "sluice/ops/context.h"

namespace sluice {

// y = x · weightᵀ (Transpose::Yes) or x · weight (No), or added to y; all without gaps between rows.
template <class T>
struct WeightProduct {
  const T* x = nullptr;
  int64_t rows = 0;
  Tensor weight;  // [M, K], of x's type
  Transpose transpose = Transpose::Yes;
  T* y = nullptr;
  Output output = Output::Overwrite;
};

// In bf16 the weight is taken from the context's packed ones.
template <class T>
void weight_product(const Context& context, const WeightProduct<T>& product);

}  // namespace sluice
