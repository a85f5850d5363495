// The activations of a gate as types, so that a loop is compiled for each and holds no switch.
#pragma once

#include "sluice/kernels/gate.h"
#include "sluice/kernels/simd/math.h"

namespace sluice::SLUICE_SIMD_NAMESPACE {
namespace {

struct SigmoidGate {
  static HWY_INLINE Vector value(Vector x) { return sigmoid(x); }
  static HWY_INLINE ValueAndSlope with_slope(Vector x) { return sigmoid_with_slope(x); }
};

struct SiluGate {
  static HWY_INLINE Vector value(Vector x) { return silu(x); }
  static HWY_INLINE ValueAndSlope with_slope(Vector x) { return silu_with_slope(x); }
};

struct IdentityGate {
  static HWY_INLINE Vector value(Vector x) { return x; }
  static HWY_INLINE ValueAndSlope with_slope(Vector x) { return {x, set(1.0F)}; }
};

struct NsSigmoidGate {
  static HWY_INLINE Vector value(Vector x) { return hn::MulAdd(sigmoid(x), set(0.5F), set(0.5F)); }
  static HWY_INLINE ValueAndSlope with_slope(Vector x) {
    const ValueAndSlope s = sigmoid_with_slope(x);
    return {hn::MulAdd(s.value, set(0.5F), set(0.5F)), hn::Mul(s.slope, set(0.5F))};
  }
};

struct TwoSigmoidGate {
  static HWY_INLINE Vector value(Vector x) { return hn::Mul(sigmoid(x), set(2.0F)); }
  static HWY_INLINE ValueAndSlope with_slope(Vector x) {
    const ValueAndSlope s = sigmoid_with_slope(x);
    return {hn::Mul(s.value, set(2.0F)), hn::Mul(s.slope, set(2.0F))};
  }
};

struct SoftplusGate {
  static HWY_INLINE Vector value(Vector x) { return softplus(x); }
  static HWY_INLINE ValueAndSlope with_slope(Vector x) { return softplus_with_slope(x); }
};

struct TanhGate {
  static HWY_INLINE Vector value(Vector x) { return tanh(x); }
  static HWY_INLINE ValueAndSlope with_slope(Vector x) { return tanh_with_slope(x); }
};

// Calls body with the type that stands for the activation.
template <class Body>
void with_activation(Activation activation, const Body& body) {
  switch (activation) {
    case Activation::Sigmoid:
      return body(SigmoidGate{});
    case Activation::Silu:
      return body(SiluGate{});
    case Activation::Identity:
      return body(IdentityGate{});
    case Activation::NsSigmoid:
      return body(NsSigmoidGate{});
    case Activation::TwoSigmoid:
      return body(TwoSigmoidGate{});
    case Activation::Softplus:
      return body(SoftplusGate{});
    case Activation::Tanh:
      return body(TanhGate{});
  }
}

}  // namespace
}  // namespace sluice::SLUICE_SIMD_NAMESPACE
