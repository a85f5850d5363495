// Taps: the named places where a probe can look at an intermediate value or put another in its place. Layers
// call tap(); they never know who listens.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "sluice/ops/sequences.h"
#include "sluice/ops/tape.h"

namespace sluice {

// "layers.3.attn.q", or "final.norm" outside the layers.
struct TapName {
  static constexpr int64_t kNoLayer = -1;

  int64_t layer = kNoLayer;
  std::string_view point;

  std::string text() const;
};

// The points, in the order in which a forward pass meets them. Shapes: N tokens, D hidden, H query heads, K
// key/value heads, hd head_dim, V vocabulary.
namespace points {
inline constexpr std::string_view kEmbedding = "embedding";        // [N, D]
inline constexpr std::string_view kAttentionInput = "attn.input";  // [N, D], after the norm: what gates see
inline constexpr std::string_view kQuery = "attn.q";               // [N, H, hd], normed, rotated and gated
inline constexpr std::string_view kKey = "attn.k";                 // [N, K, hd]
inline constexpr std::string_view kValue = "attn.v";               // [N, K, hd]
inline constexpr std::string_view kProbs = "attn.probs";  // [H, T, T] per sequence; can only be watched
inline constexpr std::string_view kSink = "attn.sink";    // [N, H], the probability on key 0; likewise
inline constexpr std::string_view kEntropy =
    "attn.entropy";                                       // [N, H], of the probabilities, in nats; likewise
inline constexpr std::string_view kMixed = "attn.mixed";  // [N, H, hd], attention's output before the gate
inline constexpr std::string_view kGate = "attn.gate";    // [N, H, hd or 1], what g1 applies
inline constexpr std::string_view kGateG2 = "attn.gate_g2";    // [N, K, hd or 1]
inline constexpr std::string_view kGateG3 = "attn.gate_g3";    // [N, K, hd or 1]
inline constexpr std::string_view kGateG4 = "attn.gate_g4";    // [N, H, hd or 1]
inline constexpr std::string_view kGateG5 = "attn.gate_g5";    // [N, 1, D]
inline constexpr std::string_view kGated = "attn.gated";       // [N, H, hd], the input of o_proj
inline constexpr std::string_view kAttentionOut = "attn.out";  // [N, D]
inline constexpr std::string_view kMiddle = "resid_mid";       // [N, D], after the attention residual
inline constexpr std::string_view kMlpInput = "mlp.input";     // [N, D]
inline constexpr std::string_view kMlpOut = "mlp.out";         // [N, D]
inline constexpr std::string_view kResidual = "resid";         // [N, D], the block's output
inline constexpr std::string_view kFinalNorm = "final.norm";   // [N, D]
inline constexpr std::string_view kLogits = "logits";          // [N, V]

inline constexpr std::array kAll = {
    kEmbedding, kAttentionInput, kQuery,  kKey,      kValue,     kProbs,  kSink,  kEntropy,
    kMixed,     kGate,           kGateG2, kGateG3,   kGateG4,    kGateG5, kGated, kAttentionOut,
    kMiddle,    kMlpInput,       kMlpOut, kResidual, kFinalNorm, kLogits};

// Values that nothing is computed from: a change would have no effect.
inline bool can_only_be_watched(std::string_view point) {
  return point == kProbs || point == kSink || point == kEntropy;
}

inline bool is_outside_layers(std::string_view point) {
  return point == kEmbedding || point == kFinalNorm || point == kLogits;
}
}  // namespace points

// The tokens of one forward pass: sequences, which begin after `past` tokens that are in a cache.
struct PassTokens {
  const Sequences& sequences;
  int64_t past = 0;
};

class Probe {
 public:
  virtual ~Probe() = default;

  // Before the first tap of every pass.
  virtual void begin_pass(const PassTokens& /*tokens*/) {}

  virtual bool wants(const TapName& name) const = 0;

  // Called only where wants() said yes. Returns the value to go on with: the same tensor, or another of its
  // shape.
  virtual Tensor visit(const Context& context, const TapName& name, const Tensor& value) = 0;
};

inline bool watched(const Context& context, const TapName& name) {
  return context.probe != nullptr && context.probe->wants(name);
}

// The value, after a probe has seen it under `shape`. A replaced value is a constant: no gradient flows
// through it.
Var tap(const Context& context, const TapName& name, const Shape& shape, const Var& value);

}  // namespace sluice
