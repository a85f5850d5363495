// The words of config.json for the axes of a gate; reading and writing share them.
#pragma once

#include <algorithm>
#include <string_view>
#include <utility>

#include "sluice/base/assert.h"
#include "sluice/base/json.h"
#include "sluice/nn/gate_spec.h"

namespace sluice {

inline constexpr Choice<Granularity> kGranularities[] = {{"elementwise", Granularity::Elementwise},
                                                         {"headwise", Granularity::Headwise}};
inline constexpr Choice<Sharing> kSharings[] = {{"specific", Sharing::Specific}, {"shared", Sharing::Shared}};
inline constexpr Choice<GateMode> kModes[] = {{"multiply", GateMode::Multiply}, {"add", GateMode::Add}};
inline constexpr Choice<GateInput> kInputs[] = {
    {"token", GateInput::Token}, {"constant", GateInput::Constant}, {"truncated", GateInput::Truncated}};
inline constexpr Choice<GateOrder> kOrders[] = {{"after_rope", GateOrder::AfterRope},
                                                {"before_norm", GateOrder::BeforeNorm}};

// Positions and activations bring their names along.
template <class Indices>
struct PositionChoices;
template <size_t... I>
struct PositionChoices<std::index_sequence<I...>> {
  static constexpr Choice<GatePosition> all[] = {{kGatePositionRows[I].name, kGatePositionRows[I]}...};
};
inline constexpr auto& kPositions = PositionChoices<std::make_index_sequence<kGatePositionRows.size()>>::all;

template <class List>
struct ActivationChoices;
template <class... Types>
struct ActivationChoices<activations::List<Types...>> {
  static constexpr Choice<Activation> all[] = {{Types::name, Types::id}...};
};
inline constexpr auto& kActivations = ActivationChoices<ActivationTypes>::all;

}  // namespace sluice
