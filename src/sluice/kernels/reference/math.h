// Scalar activation functions with their derivatives.
#pragma once

#include <algorithm>
#include <cmath>

#include "sluice/kernels/gate.h"

namespace sluice::reference {

template <class T>
T sigmoid(T x) {
  return 1 / (1 + std::exp(-x));
}

template <class T>
T activate(Activation activation, T x) {
  switch (activation) {
    case Activation::Sigmoid:
      return sigmoid(x);
    case Activation::Silu:
      return x * sigmoid(x);
    case Activation::Identity:
      return x;
    case Activation::NsSigmoid:
      return T(0.5) + T(0.5) * sigmoid(x);
    case Activation::TwoSigmoid:
      return 2 * sigmoid(x);
    // log(1 + e^x) without overflow for large x.
    case Activation::Softplus:
      return std::max(x, T(0)) + std::log1p(std::exp(-std::abs(x)));
    case Activation::Tanh:
      return std::tanh(x);
  }
  return x;
}

template <class T>
T silu_slope(T x) {
  const T s = sigmoid(x);
  return s * (1 + x * (1 - s));
}

template <class T>
T slope(Activation activation, T x) {
  const T s = sigmoid(x);
  switch (activation) {
    case Activation::Sigmoid:
      return s * (1 - s);
    case Activation::Silu:
      return silu_slope(x);
    case Activation::Identity:
      return 1;
    case Activation::NsSigmoid:
      return T(0.5) * s * (1 - s);
    case Activation::TwoSigmoid:
      return 2 * s * (1 - s);
    case Activation::Softplus:
      return s;
    case Activation::Tanh:
      return 1 - std::tanh(x) * std::tanh(x);
  }
  return 1;
}

}  // namespace sluice::reference
