// All points that have a tap, in the order in which a forward pass meets them, then those of gates. A layer
// of another kind declares its own here.
#pragma once

#include <array>
#include <utility>

#include "sluice/nn/gate_position.h"
#include "sluice/nn/tap.h"

namespace sluice::points {

inline constexpr TapPoint kEmbedding{"embedding", TapAxes::Hidden, TapPlace::Model};
inline constexpr TapPoint kAttentionInput{"attn.input", TapAxes::Hidden};  // after the norm: what gates see
inline constexpr TapPoint kQuery{"attn.q", TapAxes::QueryHeads};           // normed, rotated and gated
inline constexpr TapPoint kKey{"attn.k", TapAxes::KeyValueHeads};
inline constexpr TapPoint kValue{"attn.v", TapAxes::KeyValueHeads};
inline constexpr TapPoint kProbs{"attn.probs", TapAxes::Probabilities, TapPlace::Layer, TapAccess::ReadOnly};
inline constexpr TapPoint kSink{"attn.sink", TapAxes::PerHead, TapPlace::Layer,
                                TapAccess::ReadOnly};  // the probability on key 0
inline constexpr TapPoint kEntropy{"attn.entropy", TapAxes::PerHead, TapPlace::Layer,
                                   TapAccess::ReadOnly};              // of the probabilities, in nats
inline constexpr TapPoint kMixed{"attn.mixed", TapAxes::QueryHeads};  // attention's output before the gate
inline constexpr TapPoint kGated{"attn.gated", TapAxes::QueryHeads};  // the input of o_proj
inline constexpr TapPoint kAttentionOut{"attn.out", TapAxes::Hidden};
inline constexpr TapPoint kMiddle{"resid_mid", TapAxes::Hidden};  // after the attention residual
inline constexpr TapPoint kMlpInput{"mlp.input", TapAxes::Hidden};
inline constexpr TapPoint kRouter{"mlp.router", TapAxes::Experts};  // probabilities of all experts
inline constexpr TapPoint kExperts{"mlp.experts", TapAxes::Experts, TapPlace::Layer,
                                   TapAccess::ReadOnly};  // weights of the chosen ones, zeros elsewhere
inline constexpr TapPoint kExpertOut{"mlp.expert_out", TapAxes::ExpertOutputs};  // before they are weighed
inline constexpr TapPoint kSharedGate{"mlp.shared_gate", TapAxes::Token};  // on the shared expert's output
inline constexpr TapPoint kMlpOut{"mlp.out", TapAxes::Hidden};
inline constexpr TapPoint kResidual{"resid", TapAxes::Hidden};  // the block's output
inline constexpr TapPoint kFinalNorm{"final.norm", TapAxes::Hidden, TapPlace::Model};
inline constexpr TapPoint kLogits{"logits", TapAxes::Vocabulary, TapPlace::Model};

inline constexpr TapPoint kGate =
    GatePosition::G1->tap;  // of attention's output, the one that the published models have

inline constexpr std::array kOutsideGates = {
    kEmbedding, kAttentionInput, kQuery,      kKey,          kValue,    kProbs,     kSink,
    kEntropy,   kMixed,          kGated,      kAttentionOut, kMiddle,   kMlpInput,  kRouter,
    kExperts,   kExpertOut,      kSharedGate, kMlpOut,       kResidual, kFinalNorm, kLogits};

// Those of gates come from their positions.
inline constexpr auto kAll =
    []<size_t... I, size_t... G>(std::index_sequence<I...>, std::index_sequence<G...>) {
  return std::array{kOutsideGates[I]..., kGatePositionRows[G].tap...};
}
(std::make_index_sequence<kOutsideGates.size()>(), std::make_index_sequence<kGatePositionRows.size()>());

}  // namespace sluice::points
