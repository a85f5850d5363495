// The weight of a linear layer, in whatever form it is kept: f32 (or f64, in tests) with a place on a tape,
// bf16, int8; and packed, if the context lets products leave that behind. Its products are in
// ops/weight_product.h.
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
  // Of a parameter: forms stay with the parameter.
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

}  // namespace sluice
