// Matrices quantised to int8, packed as kernels/int8.h describes: a weight, or the rows that meet it.
#pragma once

#include "sluice/ops/context.h"

namespace sluice {

struct Int8Matrix {
  int64_t rows = 0, cols = 0;
  Tensor values;  // [blocks, words, 16, 4]
  Tensor scales;  // [blocks, groups, 16]

  bool defined() const { return values.defined(); }
  size_t bytes() const { return values.bytes() + scales.bytes(); }
};

// Room for a matrix; its values are undefined until quantize_rows has been called for all of them.
Int8Matrix empty_int8_matrix(const Context& context, int64_t rows, int64_t cols);

// Quantises some rows of an f32 or bf16 matrix of the same shape. They begin where a block does, and end
// there or with the matrix.
void quantize_rows(const Context& context, const Tensor& source, Range rows, const Int8Matrix& matrix);

// The input of products with quantised weights, row by row.
struct QuantizedInput {
  Tensor q;       // [rows, words · 4]
  Tensor scales;  // [rows, groups]
  Tensor sums;    // [rows, groups]

  bool defined() const { return q.defined(); }
};

QuantizedInput quantized_input(const Context& context, const Tensor& x);

}  // namespace sluice
