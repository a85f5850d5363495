// The activations that turn a gate's scores into what it applies. One type each, written once for scalars and
// for vectors over what `Math` provides (reference/math.h, simd/activation.h); a new one is its type, its
// name in Activation and its place in ActivationTypes.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

namespace sluice {

enum class Activation { Sigmoid, Silu, Identity, NsSigmoid, TwoSigmoid, Softplus, Tanh, Count };

namespace activations {

// Inlined into the loop of each instruction set: no copy is left for the linker to share between them.
#define SLUICE_ACTIVATION [[gnu::always_inline]] static inline

struct Sigmoid {
  static constexpr Activation id = Activation::Sigmoid;
  static constexpr std::string_view name = "sigmoid";

  template <class Math>
  SLUICE_ACTIVATION typename Math::Value value(typename Math::Value x) {
    return Math::sigmoid(x);
  }
  template <class Math>
  SLUICE_ACTIVATION typename Math::WithSlope with_slope(typename Math::Value x) {
    return Math::sigmoid_with_slope(x);
  }
};

struct Silu {
  static constexpr Activation id = Activation::Silu;
  static constexpr std::string_view name = "silu";

  template <class Math>
  SLUICE_ACTIVATION typename Math::Value value(typename Math::Value x) {
    return Math::silu(x);
  }
  template <class Math>
  SLUICE_ACTIVATION typename Math::WithSlope with_slope(typename Math::Value x) {
    return Math::silu_with_slope(x);
  }
};

struct Identity {
  static constexpr Activation id = Activation::Identity;
  static constexpr std::string_view name = "identity";

  template <class Math>
  SLUICE_ACTIVATION typename Math::Value value(typename Math::Value x) {
    return x;
  }
  template <class Math>
  SLUICE_ACTIVATION typename Math::WithSlope with_slope(typename Math::Value x) {
    return {x, Math::set(1.0F)};
  }
};

// 0.5 + 0.5 · sigmoid: never below a half, so no sparsity.
struct NsSigmoid {
  static constexpr Activation id = Activation::NsSigmoid;
  static constexpr std::string_view name = "ns_sigmoid";

  template <class Math>
  SLUICE_ACTIVATION typename Math::Value value(typename Math::Value x) {
    return Math::multiply_add(Math::sigmoid(x), Math::set(0.5F), Math::set(0.5F));
  }
  template <class Math>
  SLUICE_ACTIVATION typename Math::WithSlope with_slope(typename Math::Value x) {
    const typename Math::WithSlope s = Math::sigmoid_with_slope(x);
    return {Math::multiply_add(s.value, Math::set(0.5F), Math::set(0.5F)),
            Math::multiply(s.slope, Math::set(0.5F))};
  }
};

struct TwoSigmoid {
  static constexpr Activation id = Activation::TwoSigmoid;
  static constexpr std::string_view name = "two_sigmoid";

  template <class Math>
  SLUICE_ACTIVATION typename Math::Value value(typename Math::Value x) {
    return Math::multiply(Math::sigmoid(x), Math::set(2.0F));
  }
  template <class Math>
  SLUICE_ACTIVATION typename Math::WithSlope with_slope(typename Math::Value x) {
    const typename Math::WithSlope s = Math::sigmoid_with_slope(x);
    return {Math::multiply(s.value, Math::set(2.0F)), Math::multiply(s.slope, Math::set(2.0F))};
  }
};

struct Softplus {
  static constexpr Activation id = Activation::Softplus;
  static constexpr std::string_view name = "softplus";

  template <class Math>
  SLUICE_ACTIVATION typename Math::Value value(typename Math::Value x) {
    return Math::softplus(x);
  }
  template <class Math>
  SLUICE_ACTIVATION typename Math::WithSlope with_slope(typename Math::Value x) {
    return Math::softplus_with_slope(x);
  }
};

struct Tanh {
  static constexpr Activation id = Activation::Tanh;
  static constexpr std::string_view name = "tanh";

  template <class Math>
  SLUICE_ACTIVATION typename Math::Value value(typename Math::Value x) {
    return Math::tanh(x);
  }
  template <class Math>
  SLUICE_ACTIVATION typename Math::WithSlope with_slope(typename Math::Value x) {
    return Math::tanh_with_slope(x);
  }
};

#undef SLUICE_ACTIVATION

template <class... Types>
struct List {
  static constexpr size_t kCount = sizeof...(Types);

  // Calls body with the type that stands for the activation: a loop is compiled for each and holds no switch.
  template <class Body>
  [[gnu::always_inline]] static inline void with(Activation activation, const Body& body) {
    static_cast<void>(((Types::id == activation && (body(Types{}), true)) || ...));
  }

  static constexpr std::array<std::pair<std::string_view, Activation>, kCount> kNames = {
      std::pair{Types::name, Types::id}...};
};

}  // namespace activations

using ActivationTypes =
    activations::List<activations::Sigmoid, activations::Silu, activations::Identity, activations::NsSigmoid,
                      activations::TwoSigmoid, activations::Softplus, activations::Tanh>;
static_assert(ActivationTypes::kCount == static_cast<size_t>(Activation::Count), "an activation has no type");

}  // namespace sluice
