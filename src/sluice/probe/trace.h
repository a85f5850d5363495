// Everything of one forward pass, for comparing implementations.
#pragma once

#include <span>
#include <vector>

#include "sluice/model/decoder.h"

namespace sluice {

// Shapes: L layers, T tokens, D hidden, H heads, V vocabulary. All f32.
struct Trace {
  Tensor logits;  // [T, V]
  Tensor hidden;  // [L + 1, T, D]: the embedding, then each block's output before the final norm
  Tensor attn;    // [L, H, T, T]
  Tensor gates;   // [gated layers, T, H, hd] (all headwise: 1 instead of hd); undefined without a g1 gate
  std::vector<int64_t> gate_layers;
};

// A probe of the context sees, and may change, every value before it is kept here.
Trace trace(const Context& context, const Decoder& decoder, std::span<const int32_t> ids);

}  // namespace sluice
