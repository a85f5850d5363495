// The words of config.json for the axes of a gate; reading and writing share them.
#pragma once

#include <algorithm>
#include <string_view>

#include "sluice/base/json.h"
#include "sluice/nn/gate_spec.h"

namespace sluice {

inline constexpr Choice<GatePosition> kPositions[] = {{"g1", GatePosition::G1},
                                                      {"g2", GatePosition::G2},
                                                      {"g3", GatePosition::G3},
                                                      {"g4", GatePosition::G4},
                                                      {"g5", GatePosition::G5}};
inline constexpr Choice<Granularity> kGranularities[] = {{"elementwise", Granularity::Elementwise},
                                                         {"headwise", Granularity::Headwise}};
inline constexpr Choice<Sharing> kSharings[] = {{"specific", Sharing::Specific}, {"shared", Sharing::Shared}};
inline constexpr Choice<GateMode> kModes[] = {{"multiply", GateMode::Multiply}, {"add", GateMode::Add}};
inline constexpr Choice<Activation> kActivations[] = {{"sigmoid", Activation::Sigmoid},
                                                      {"silu", Activation::Silu},
                                                      {"identity", Activation::Identity},
                                                      {"ns_sigmoid", Activation::NsSigmoid},
                                                      {"two_sigmoid", Activation::TwoSigmoid},
                                                      {"softplus", Activation::Softplus},
                                                      {"tanh", Activation::Tanh}};
inline constexpr Choice<GateInput> kInputs[] = {
    {"token", GateInput::Token}, {"constant", GateInput::Constant}, {"truncated", GateInput::Truncated}};
inline constexpr Choice<GateOrder> kOrders[] = {{"after_rope", GateOrder::AfterRope},
                                                {"before_norm", GateOrder::BeforeNorm}};

template <class T, size_t N>
std::string_view word_for(const Choice<T> (&words)[N], T value) {
  return std::ranges::find(words, value, &Choice<T>::value)->name;
}

}  // namespace sluice
