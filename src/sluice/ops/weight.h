// The weight of a linear layer, in whatever form it is kept: f32 (or f64, in tests) with a place on a tape,
// bf16, int8; and packed, if the context lets products leave that behind. It knows its products, and how each
// is computed is decided in one place: product_path().
//
// Shapes: weight [M, K], x [N, K], y and dy [N, M].
#pragma once

#include <memory>

#include "sluice/ops/int8_matrix.h"
#include "sluice/ops/packed_matrix.h"
#include "sluice/ops/tape.h"

namespace sluice {

struct WeightForms;  // what is kept beside the elements: int8 values, packed operands

class Weight {
 public:
  Weight() = default;  // none: defined() is false
  Weight(Var dense);   // packed forms are kept as long as this handle or a copy of it lives
  Weight(Int8Matrix quantized);
  // A parameter's own: its forms stay with it.
  Weight(Var dense, std::shared_ptr<WeightForms> forms)
      : dense_(std::move(dense)), forms_(std::move(forms)) {}

  bool defined() const { return forms_ != nullptr; }
  int64_t outputs() const;  // M
  int64_t inputs() const;   // K

  bool is_int8() const;
  // Less than f32: what is computed around it need not be more precise than bf16.
  bool is_narrow() const;

  // The elements with their slot on the tape. Undefined if they are kept in int8 alone.
  const Var& dense() const { return dense_; }
  const Int8Matrix& int8() const;

  // The B operand of x · weightᵀ (Transpose::Yes) or of dy · weight (No): the one that is kept, or made for
  // this use.
  PackedMatrix packed(const Context& context, Transpose transpose) const;
  // Undefined tiles if no product has left it behind.
  PackedMatrix packed_if_kept(Transpose transpose) const;

 private:
  Var dense_;
  std::shared_ptr<WeightForms> forms_;
};

// A parameter as a weight: on the tape if there is one.
Weight weight_of(const Context& context, const Parameter& parameter);

// Whether a parameter is kept in less than f32.
bool is_narrow(const Parameter& parameter);

// Bytes of the form that products read.
size_t bytes_of(const Parameter& parameter);

// From now on products use these values instead of the parameter's own.
void set_int8(Parameter& parameter, Int8Matrix quantized);

enum class ProductPath {
  Int8,     // integer sums over groups of quantised rows
  FewRows,  // the weight is read as it is stored, once: bound by memory
  Tiles,    // packed bf16 operands, f32 sums
  Gemm,     // in the type of the elements
};

ProductPath product_path(const Context& context, const Weight& weight, int64_t rows);

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

// dy · weight, likewise. Not for weights in bf16 or int8: they have no gradient.
template <class T>
void multiply_backward(const Context& context, const Tensor& dy, const Weight& weight,
                       const StoreSums<T>& to);

}  // namespace sluice
