// Tensors of normally distributed numbers, the same in every run.
#pragma once

#include "sluice/base/random.h"
#include "sluice/ops/context.h"

namespace sluice::test {

inline Tensor normal(const Context& context, const Shape& shape, uint64_t stream) {
  const Tensor tensor = context.empty(shape, DType::F32);
  Random(7, stream).fill_normal(tensor.values<float>(), 0, 0.0F, 1.0F);
  return tensor;
}

}  // namespace sluice::test
