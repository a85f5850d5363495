// Linear layer with weights in int8, for inference.
#pragma once

#include "sluice/ops/linear.h"

namespace sluice {

// A quantised matrix, packed as kernels/int8.h describes.
struct Int8Matrix {
  int64_t rows = 0, cols = 0;
  Tensor values;  // [blocks, words, 16, 4]
  Tensor scales;  // [blocks, groups, 16]

  size_t bytes() const { return values.bytes() + scales.bytes(); }
};

// Room for a matrix; its values are undefined until quantize_rows has been called for all of them.
Int8Matrix empty_int8_matrix(const Context& context, int64_t rows, int64_t cols);

// Quantises some rows of an f32 or bf16 matrix of the same shape. They begin where a block does, and end
// there or with the matrix.
void quantize_rows(const Context& context, const Tensor& source, Range rows, const Int8Matrix& matrix);

// What linear() and add_linear() do if the layer has weights in int8. The input is quantised on the way.
Var int8_linear(const Context& context, const Var& x, const LinearWeights& weights, const Var& residual = {});

}  // namespace sluice
