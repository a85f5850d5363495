// The gate: activated scores multiply a tensor, or are added to it. Ranges count tokens.
#pragma once

#include <cstdint>

#include "sluice/kernels/activation.h"

namespace sluice {

enum class GateMode { Multiply, Add };
enum class Granularity { Elementwise, Headwise };
enum class Sharing { Specific, Shared };

// What a gate computes, apart from where its scores come from.
struct GateForm {
  Activation activation = Activation::Sigmoid;
  GateMode mode = GateMode::Multiply;
  Granularity granularity = Granularity::Elementwise;
  Sharing sharing = Sharing::Specific;

  bool operator==(const GateForm&) const = default;
};

struct GateShape {
  int64_t heads = 0, head_dim = 0;
  GateForm form = {};

  // Scores per head: one per channel, or one in all.
  int64_t score_width() const { return form.granularity == Granularity::Headwise ? 1 : head_dim; }
};

// y = x · a, or x + a, with a = activation(scores), or its mean over heads if shared.
template <class T>
struct GateForward {
  GateShape shape = {};
  const T* x = nullptr;       // [tokens, heads, head_dim]
  const T* scores = nullptr;  // [tokens, heads, score_width]
  T* y = nullptr;
  T* mean =
      nullptr;  // [tokens, score_width]: the shared activation, kept for the gradient; unused if specific
};

template <class T>
struct GateBackward {
  GateShape shape = {};
  const T* x = nullptr;
  const T* scores = nullptr;
  const T* mean = nullptr;
  const T* dy = nullptr;
  T* dx = nullptr;
  T* dscores = nullptr;
};

// values[n, h] = what the gate applies to head h: activated scores, repeated for every head if shared.
template <class T>
struct GateValues {
  GateShape shape = {};
  const T* scores = nullptr;
  T* values = nullptr;  // [tokens, heads, score_width]
};

}  // namespace sluice
