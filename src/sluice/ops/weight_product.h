// Products with a weight. How one is computed is decided in one place: product_path().
//
// Shapes: weight [M, K], x [N, K], y and dy [N, M].
#pragma once

#include "sluice/ops/weight.h"

namespace sluice {

enum class ProductPath {
  Int8,     // integer sums over groups of quantised rows
  FewRows,  // the weight is read as it is stored, once: bound by memory
  Tiles,    // packed bf16 operands, f32 sums
  Gemm,     // in the type of the elements
};

// Whether each row's result has the same bits whatever rows stand beside it. The last bits of a gemm may
// depend on where a row lies in its block; few rows are another path than many.
inline bool rows_are_independent(ProductPath path) {
  return path == ProductPath::Int8 || path == ProductPath::Tiles;
}

ProductPath product_path(const Context& context, const Weight& weight, int64_t rows);

// Assertions of an op about x [N, K] and its weight: sizes, types, no gradient for a narrow one, and none
// through int8.
void check_weight(const char* op, const Context& context, const Tensor& x, const Weight& weight);

// The input of one or several products, in the forms that they need; each is made once.
class ProductInput {
 public:
  explicit ProductInput(Tensor x) : x_(std::move(x)) {}

  const Tensor& x() const { return x_; }
  const PackedMatrix& packed_rows(const Context& context);
  const PackedMatrix& packed_columns(const Context& context);
  const QuantizedInput& quantized(const Context& context);

  // Between values and gradients only x itself is kept.
  void drop_forms();

 private:
  Tensor x_;
  PackedMatrix rows_, columns_;
  QuantizedInput quantized_;
};

// x · weightᵀ, written as `to` says.
template <class T>
void multiply_forward(const Context& context, ProductInput& x, const Weight& weight, const StoreSums<T>& to);

// The same with rows that are packed already.
void multiply_packed(const Context& context, const PackedMatrix& x, const Weight& weight,
                     const StoreSums<float>& to);

// dy · weight, likewise: the gradient of x. Not for int8. Of bf16 weights dy is rounded, too, as x was.
template <class T>
void multiply_backward(const Context& context, const Tensor& dy, const Weight& weight,
                       const StoreSums<T>& to);

// dyᵀ · x: the gradient of a weight.
template <class T>
void multiply_gradient(const Context& context, const Tensor& dy, ProductInput& x, const StoreSums<T>& to);

}  // namespace sluice
