// What the activations (kernels/activation.h) need of scalars, and each of them by its name.
#pragma once

#include <algorithm>
#include <cmath>

#include "sluice/kernels/activation.h"

namespace sluice::reference {

template <class T>
T sigmoid(T x) {
  return 1 / (1 + std::exp(-x));
}

template <class T>
T silu_slope(T x) {
  const T s = sigmoid(x);
  return s * (1 + x * (1 - s));
}

template <class T>
struct ScalarMath {
  using Value = T;
  struct WithSlope {
    T value, slope;
  };

  static T set(float x) { return T(x); }
  static T multiply(T a, T b) { return a * b; }
  static T multiply_add(T a, T b, T c) { return a * b + c; }

  static T sigmoid(T x) { return reference::sigmoid(x); }
  static WithSlope sigmoid_with_slope(T x) {
    const T s = sigmoid(x);
    return {s, s * (1 - s)};
  }
  static T silu(T x) { return x * sigmoid(x); }
  static WithSlope silu_with_slope(T x) { return {silu(x), silu_slope(x)}; }
  // log(1 + e^x) without overflow for large x.
  static T softplus(T x) { return std::max(x, T(0)) + std::log1p(std::exp(-std::abs(x))); }
  static WithSlope softplus_with_slope(T x) { return {softplus(x), sigmoid(x)}; }
  static T tanh(T x) { return std::tanh(x); }
  static WithSlope tanh_with_slope(T x) { return {std::tanh(x), 1 - std::tanh(x) * std::tanh(x)}; }
};

template <class T>
T activate(Activation activation, T x) {
  T value = x;
  ActivationTypes::with(activation,
                        [&]<class Type>(Type) { value = Type::template value<ScalarMath<T>>(x); });
  return value;
}

template <class T>
T slope(Activation activation, T x) {
  T value = 1;
  ActivationTypes::with(activation,
                        [&]<class Type>(Type) { value = Type::template with_slope<ScalarMath<T>>(x).slope; });
  return value;
}

}  // namespace sluice::reference
