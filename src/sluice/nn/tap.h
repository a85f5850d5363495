// Taps: the named places where a probe can look at an intermediate value or put another in its place. Layers
// call tap(); they never know who listens.
#pragma once

#include <string>
#include <string_view>

#include "sluice/ops/sequences.h"
#include "sluice/ops/tape.h"

namespace sluice {

// What a value has for each token. Shapes: N tokens, D hidden, H query heads, K key/value heads, hd head_dim,
// V vocabulary, E experts.
enum class TapAxes {
  Hidden,         // [N, D]
  QueryHeads,     // [N, H, hd]
  KeyValueHeads,  // [N, K, hd]
  Gate,           // [N, heads, width] of the gate that makes it
  PerHead,        // [N, H]
  Probabilities,  // [H, T, T] for each sequence
  Vocabulary,     // [N, V]
  Experts,        // [N, E]
  ExpertOutputs,  // [N, E, D]
  Token,          // [N, 1]
};

enum class TapPlace { Layer, Model };       // in every layer that has it, or once
enum class TapAccess { Change, ReadOnly };  // read-only: nothing is computed from it

// A point that values can be seen at, declared with what a value has there.
struct TapPoint {
  constexpr TapPoint(std::string_view name_, TapAxes axes_, TapPlace place_ = TapPlace::Layer,
                     TapAccess access_ = TapAccess::Change)
      : name(name_), axes(axes_), place(place_), access(access_) {}

  std::string_view name;
  TapAxes axes;
  TapPlace place;
  TapAccess access;

  constexpr operator std::string_view() const { return name; }
};

// Whether only layers with experts have it.
constexpr bool is_of_experts(const TapPoint& point) {
  return point.axes == TapAxes::Experts || point.axes == TapAxes::ExpertOutputs ||
         point.axes == TapAxes::Token;
}

// "layers.3.attn.q", or "final.norm" outside the layers.
struct TapName {
  static constexpr int64_t kNoLayer = -1;

  int64_t layer = kNoLayer;
  std::string_view point;

  std::string text() const;
};

// The tokens of one forward pass: sequences, which begin after `past` tokens of earlier passes.
struct PassTokens {
  const Sequences& sequences;
  int64_t past = 0;
};

// The gradient at a tap, as a probe receives it.
struct TapGradient {
  const Tensor& value;     // that the tap was given, before the probe changed it
  const Tensor& gradient;  // of the loss by what went on from the tap
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

  // Under a tape, where wants() said yes: whether receive() is called when gradients are computed. The probe
  // must then live until the tape has been played.
  virtual bool wants_gradient(const TapName& /*name*/) const { return false; }

  // Returns the gradient of what the value was computed from, by way of the value: the same tensor, another
  // of its shape, or an undefined one, which makes the value a constant.
  virtual Tensor receive(const Context& /*context*/, const TapName& /*name*/, const TapGradient& at) {
    return at.gradient;
  }
};

// A declared point in a layer, or outside of them.
struct Tap {
  int64_t layer = TapName::kNoLayer;
  const TapPoint& point;

  TapName name() const { return {layer, point.name}; }
};

inline bool is_probed(const Context& context, const Tap& tap) {
  return context.probe != nullptr && context.probe->wants(tap.name());
}

// The value, after a probe has seen it under `shape`. A replaced value is a constant: no gradient flows
// through it, unless the probe receives gradients and says otherwise.
Var tap(const Context& context, const Tap& at, const Shape& shape, const Var& value);

// The same under the value's own shape.
Var tap(const Context& context, const Tap& at, const Var& value);

// For read-only points, where is_probed() said yes: the probe sees the value.
void show(const Context& context, const Tap& at, const Tensor& value);

}  // namespace sluice
