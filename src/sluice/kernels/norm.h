// RMSNorm over rows, and the fused per-head norm + rotary embedding of queries and keys.
#pragma once

#include <cstdint>

namespace sluice {

// Gradients of a norm's weight are sums over rows. They are summed within fixed blocks of rows first, so that
// the result does not depend on how rows are shared out. 64 rows keep the partial sums small against the
// rows.
inline constexpr int64_t kNormBlock = 64;

// The weight is stored as w, and applied as offset + w: 0 for the usual norm, 1 for the zero-centred one.
template <class T>
struct NormWeight {
  const T* w = nullptr;  // [width], or none: the norm is left out (only in NormRope)
  T offset = 0;
};

// y[r] = x[r] / rms(x[r]) · weight. The range counts rows.
template <class T>
struct RmsNormForward {
  const T* x = nullptr;
  NormWeight<T> weight = {};
  int64_t width = 0;
  T eps = 0;
  T* y = nullptr;
  T* inverse_rms = nullptr;  // [rows], kept for the gradient
};

// The range counts blocks of kNormBlock rows.
template <class T>
struct RmsNormBackward {
  const T* x = nullptr;
  NormWeight<T> weight = {};
  const T* inverse_rms = nullptr;
  const T* dy = nullptr;
  int64_t rows = 0, width = 0;
  T* dx = nullptr;
  T* dweight_blocks = nullptr;  // [blocks, width], overwritten
};

// Half-split rotary embedding: channel c turns with channel c + rotary/2; channels from `rotary` on stay.
template <class T>
struct Rotation {
  const T* cos = nullptr;  // [positions, rotary / 2]
  const T* sin = nullptr;
  const int32_t* positions = nullptr;  // [tokens]: row of the tables
  int64_t rotary = 0;
};

// y[n, h] = rotate(norm(x[n, h])). The range counts tokens.
template <class T>
struct NormRopeForward {
  const T* x = nullptr;  // [tokens, heads, head_dim]
  NormWeight<T> weight = {};
  T eps = 0;
  Rotation<T> rotation = {};
  int64_t heads = 0, head_dim = 0;
  T* y = nullptr;
  T* inverse_rms = nullptr;  // [tokens, heads]; unused without a norm
};

// The range counts blocks of kNormBlock tokens.
template <class T>
struct NormRopeBackward {
  const T* x = nullptr;
  NormWeight<T> weight = {};
  Rotation<T> rotation = {};
  const T* inverse_rms = nullptr;
  const T* dy = nullptr;
  int64_t tokens = 0, heads = 0, head_dim = 0;
  T* dx = nullptr;
  T* dweight_blocks = nullptr;  // [blocks, head_dim], overwritten; unused without a norm
};

}  // namespace sluice
