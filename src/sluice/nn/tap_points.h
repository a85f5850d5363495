// All points that have a tap, in the order in which a forward pass meets them; those of gates come last. A
// layer of another kind declares its own here.
#pragma once

#include <array>
#include <span>

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
inline constexpr TapPoint kMlpOut{"mlp.out", TapAxes::Hidden};
inline constexpr TapPoint kResidual{"resid", TapAxes::Hidden};  // the block's output
inline constexpr TapPoint kFinalNorm{"final.norm", TapAxes::Hidden, TapPlace::Model};
inline constexpr TapPoint kLogits{"logits", TapAxes::Vocabulary, TapPlace::Model};

inline constexpr TapPoint kGate = GatePosition::G1->tap;  // what everybody looks at

inline constexpr auto kAll = [] {
  constexpr std::array points = {kEmbedding, kAttentionInput, kQuery,    kKey,       kValue,        kProbs,
                                 kSink,      kEntropy,        kMixed,    kGated,     kAttentionOut, kMiddle,
                                 kMlpInput,  kMlpOut,         kResidual, kFinalNorm, kLogits};
  std::array<TapPoint, points.size() + kGatePositionRows.size()> all = {};
  size_t next = 0;
  for (const TapPoint& point : points) all[next++] = point;
  for (const GatePositionRow& row : kGatePositionRows) all[next++] = row.tap;
  return all;
}();

}  // namespace sluice::points
