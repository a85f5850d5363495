// exp, log1p and the activation functions with their derivatives on vectors of f32.
// A NaN stays a NaN, ±inf gives the limit. Where exp falls below the smallest normal float it becomes 0: a
// denormal would slow down every product that it enters.
//
// Error bounds in units of the last place (ulp), in brackets what was measured against f64. Measured on every
// 11th float with |x| <= 87.33 (slope of tanh: 43.66; log1p: 0 to 1; exp: up to its largest finite result).
//   exp        1  (0.88)
//   log1p      2  (1.95)
//   sigmoid    3  (2.7)    its slope  5  (4.9)
//   silu       4  (3.4)    its slope  3e-7 absolute  (2.3e-7): it crosses 0
//   softplus   3  (2.7)    its slope is sigmoid
//   tanh     2.5  (2.0)    its slope  5  (4.5)
#pragma once

#include "sluice/kernels/simd/lanes.h"

namespace sluice::SLUICE_SIMD_NAMESPACE {
namespace {

constexpr float kInfinity = __builtin_huge_valf();
constexpr float kLargestFloat = 0x1.fffffep127F;

HWY_INLINE Vector sign_bit(Vector x) {
  return hn::And(x, set(-0.0F));
}

HWY_INLINE Vector minus_absolute(Vector x) {
  return hn::Or(x, set(-0.0F));
}

struct ValueAndSlope {
  Vector value, slope;
};

// x = n · ln 2 + r with whole n and |r| <= ln 2 / 2; e^r = 1 + r + r² · q(r), and n is added to the exponent
// bits. q is a minimax fit of degree 4, relative error of the whole 3e-9.
HWY_INLINE Vector exp(Vector x) {
  // Adding 1.5 · 2^23 rounds to a whole number and leaves it in the low bits.
  const Vector shifter = set(0x1.8p23F);
  const Vector shifted = hn::MulAdd(x, set(0x1.715476p0F), shifter);
  const Vector n = hn::Sub(shifted, shifter);
  const Vector rest = hn::NegMulAdd(n, set(0x1.62e43p-1F), x);  // exact: ln 2 has its last bit at 2^-24
  const Vector r = hn::NegMulAdd(n, set(-0x1.05c610p-29F), rest);

  Vector q = hn::MulAdd(r, set(0x1.6a234ep-10F), set(0x1.123a6cp-7F));
  q = hn::MulAdd(r, q, set(0x1.5558f4p-5F));
  q = hn::MulAdd(r, q, set(0x1.555490p-3F));
  q = hn::MulAdd(r, q, set(0x1.fffffcp-2F));
  const Vector one = set(1.0F);
  const Vector power = hn::MulAdd(r, hn::MulAdd(r, q, one), one);

  const hn::RebindToSigned<Tag> integers{};
  const auto exponent = hn::ShiftLeft<23>(hn::BitCast(integers, shifted));
  const Vector scaled = hn::BitCast(tag, hn::Add(hn::BitCast(integers, power), exponent));

  // Below -87.336 the result is not normal, above 0x1.62e42e·2^6 it is not finite. NaN fails both comparisons
  // and takes the second way, as x + inf.
  const Vector lower = hn::IfThenElseZero(hn::Ge(x, set(-87.336F)), scaled);
  return hn::IfThenElse(hn::Le(x, set(0x1.62e42ep6F)), lower, hn::Add(x, set(kInfinity)));
}

// log(1 + x) for x in [0, 1]: 2 · atanh(s) with s = x / (2 + x), as 2s · (1 + s² · q(s²)), relative error of
// the fit 5e-9.
HWY_INLINE Vector log1p(Vector x) {
  const Vector s = hn::Div(x, hn::Add(x, set(2.0F)));
  const Vector z = hn::Mul(s, s);
  Vector q = hn::MulAdd(z, set(0x1.1ef86ep-3F), set(0x1.1eb612p-3F));
  q = hn::MulAdd(z, q, set(0x1.99d27cp-3F));
  q = hn::MulAdd(z, q, set(0x1.5555p-2F));
  const Vector twice = hn::Add(s, s);
  return hn::MulAdd(hn::Mul(twice, z), q, twice);
}

// sigmoid(x) and 1 - sigmoid(x), neither by a difference that would cancel.
struct Sigmoid {
  Vector value, complement;
};

HWY_INLINE Sigmoid sigmoid_pair(Vector x) {
  const Vector e = exp(minus_absolute(x));
  const Vector larger = hn::Div(set(1.0F), hn::Add(set(1.0F), e));
  const Vector smaller = hn::Mul(e, larger);
  const auto positive = hn::Ge(x, hn::Zero(tag));
  return {hn::IfThenElse(positive, larger, smaller), hn::IfThenElse(positive, smaller, larger)};
}

HWY_INLINE Vector sigmoid(Vector x) {
  return sigmoid_pair(x).value;
}

HWY_INLINE ValueAndSlope sigmoid_with_slope(Vector x) {
  const Sigmoid s = sigmoid_pair(x);
  return {s.value, hn::Mul(s.value, s.complement)};
}

// The bounds turn inf · 0 into 0. A NaN that they lose comes back with the sigmoid.
HWY_INLINE Vector silu(Vector x) {
  return hn::Mul(hn::Max(x, set(-kLargestFloat)), sigmoid(x));
}

HWY_INLINE ValueAndSlope silu_with_slope(Vector x) {
  const Sigmoid s = sigmoid_pair(x);
  const Vector above = hn::Max(x, set(-kLargestFloat));
  const Vector bounded = hn::Min(above, set(kLargestFloat));
  const Vector slope = hn::Mul(s.value, hn::MulAdd(bounded, s.complement, set(1.0F)));
  return {hn::Mul(above, s.value), slope};
}

// log(1 + e^x) without overflow for large x.
HWY_INLINE Vector softplus(Vector x) {
  return hn::Add(hn::Max(x, hn::Zero(tag)), log1p(exp(minus_absolute(x))));
}

HWY_INLINE ValueAndSlope softplus_with_slope(Vector x) {
  return {softplus(x), sigmoid(x)};
}

// With e = exp(-2|x|): ±(1 - e) / (1 + e), and the slope 4e / (1 + e)². The difference cancels near 0; there
// x + x³ · q(x²), relative error of the fit 1e-9.
HWY_INLINE ValueAndSlope tanh_with_slope(Vector x) {
  const Vector opposite = minus_absolute(x);
  const Vector e = exp(hn::Add(opposite, opposite));
  const Vector inverse = hn::Div(set(1.0F), hn::Add(set(1.0F), e));
  const Vector outer = hn::Mul(hn::Sub(set(1.0F), e), inverse);

  const Vector z = hn::Mul(x, x);
  Vector q = hn::MulAdd(z, set(-0x1.9bba6cp-8F), set(0x1.595688p-6F));
  q = hn::MulAdd(z, q, set(-0x1.b92bbap-5F));
  q = hn::MulAdd(z, q, set(0x1.110d3cp-3F));
  q = hn::MulAdd(z, q, set(-0x1.55554cp-2F));
  const Vector inner = hn::MulAdd(hn::Mul(x, z), q, x);

  const Vector twice = hn::Add(inverse, inverse);
  return {hn::IfThenElse(hn::Ge(opposite, set(-0.55F)), inner, hn::Or(outer, sign_bit(x))),
          hn::Mul(hn::Mul(twice, twice), e)};
}

HWY_INLINE Vector tanh(Vector x) {
  return tanh_with_slope(x).value;
}

}  // namespace
}  // namespace sluice::SLUICE_SIMD_NAMESPACE
