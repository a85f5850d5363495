// Putting pieces of one prompt's value into another's pass. For probe/patch.cpp alone.
#pragma once

#include <algorithm>
#include <span>

#include "sluice/nn/tap.h"

namespace sluice {

// What one sequence of a batch gets from the other prompt: a token's row, or a head's columns.
struct PatchPiece {
  enum class Kind { Position, Head } kind;
  int64_t index;
};

// Puts a piece of `source` into each sequence of a batch.
class PatchProbe : public Probe {
 public:
  PatchProbe(TapName at, const Tensor& source, std::span<const PatchPiece> pieces)
      : at_(at), source_(source), pieces_(pieces) {}

  bool wants(const TapName& name) const override {
    return name.layer == at_.layer && name.point == at_.point;
  }

  Tensor visit(const Context& context, const TapName& /*name*/, const Tensor& value) override {
    Tensor patched = value.copy(context.engine.pool());
    const int64_t tokens = source_.shape()[0], width = source_.count() / tokens;
    SLUICE_ASSERT(patched.count() == std::ssize(pieces_) * source_.count(), "patch: {} for {} pieces of {}",
                  patched.shape().text(), pieces_.size(), source_.shape().text());
    for (size_t i = 0; i < pieces_.size(); ++i)
      put(pieces_[i], patched.data<float>() + static_cast<int64_t>(i) * tokens * width);
    return patched;
  }

 private:
  void put(const PatchPiece& piece, float* sequence) const {
    const int64_t tokens = source_.shape()[0], width = source_.count() / tokens;
    const float* from = source_.data<float>();
    if (piece.kind == PatchPiece::Kind::Position) {
      std::copy_n(from + piece.index * width, width, sequence + piece.index * width);
      return;
    }
    const int64_t channels = source_.shape()[2];
    for (int64_t token = 0; token < tokens; ++token) {
      const int64_t first = token * width + piece.index * channels;
      std::copy_n(from + first, channels, sequence + first);
    }
  }

  TapName at_;
  const Tensor& source_;  // [T, heads, channels] or [T, D]
  std::span<const PatchPiece> pieces_;
};

}  // namespace sluice
