// The activations of a gate (kernels/activation.h) on vectors.
#pragma once

#include "sluice/kernels/activation.h"
#include "sluice/kernels/simd/math.h"

namespace sluice::SLUICE_SIMD_NAMESPACE {
namespace {

struct VectorMath {
  using Value = Vector;
  using WithSlope = ValueAndSlope;

  static HWY_INLINE Vector set(float x) { return SLUICE_SIMD_NAMESPACE::set(x); }
  static HWY_INLINE Vector multiply(Vector a, Vector b) { return hn::Mul(a, b); }
  static HWY_INLINE Vector multiply_add(Vector a, Vector b, Vector c) { return hn::MulAdd(a, b, c); }

  static HWY_INLINE Vector sigmoid(Vector x) { return SLUICE_SIMD_NAMESPACE::sigmoid(x); }
  static HWY_INLINE WithSlope sigmoid_with_slope(Vector x) {
    return SLUICE_SIMD_NAMESPACE::sigmoid_with_slope(x);
  }
  static HWY_INLINE Vector silu(Vector x) { return SLUICE_SIMD_NAMESPACE::silu(x); }
  static HWY_INLINE WithSlope silu_with_slope(Vector x) { return SLUICE_SIMD_NAMESPACE::silu_with_slope(x); }
  static HWY_INLINE Vector softplus(Vector x) { return SLUICE_SIMD_NAMESPACE::softplus(x); }
  static HWY_INLINE WithSlope softplus_with_slope(Vector x) {
    return SLUICE_SIMD_NAMESPACE::softplus_with_slope(x);
  }
  static HWY_INLINE Vector tanh(Vector x) { return SLUICE_SIMD_NAMESPACE::tanh(x); }
  static HWY_INLINE WithSlope tanh_with_slope(Vector x) { return SLUICE_SIMD_NAMESPACE::tanh_with_slope(x); }
};

template <class Type>
struct VectorActivation {
  static HWY_INLINE Vector value(Vector x) { return Type::template value<VectorMath>(x); }
  static HWY_INLINE ValueAndSlope with_slope(Vector x) { return Type::template with_slope<VectorMath>(x); }
};

// Calls body with the type that stands for the activation.
template <class Body>
HWY_INLINE void with_activation(Activation activation, const Body& body) {
  ActivationTypes::with(activation, [&]<class Type>(Type) { body(VectorActivation<Type>{}); });
}

}  // namespace
}  // namespace sluice::SLUICE_SIMD_NAMESPACE
