// Kernels that treat every element alone, and plain sums. Ranges count elements unless said otherwise.
#pragma once

#include <cstdint>

#include "sluice/tensor/bf16.h"

namespace sluice {

// y = a + factor · b; y may be a.
template <class T>
struct ScaledAdd {
  const T* a = nullptr;
  const T* b = nullptr;
  T* y = nullptr;
  T factor = 1;
};

// y = factor · x; y may be x.
template <class T>
struct Scale {
  const T* x = nullptr;
  T* y = nullptr;
  T factor = 1;
};

// y = silu(gate) · up
template <class T>
struct SwigluForward {
  const T* gate = nullptr;
  const T* up = nullptr;
  T* y = nullptr;
};

template <class T>
struct SwigluBackward {
  const T* gate = nullptr;
  const T* up = nullptr;
  const T* dy = nullptr;
  T* dgate = nullptr;
  T* dup = nullptr;
};

// y = x moved into [-limit, limit]; a NaN stays.
template <class T>
struct ClipForward {
  const T* x = nullptr;
  T* y = nullptr;
  T limit = 0;
};

// dx = dy where x lay inside, 0 elsewhere.
template <class T>
struct ClipBackward {
  const T* x = nullptr;
  const T* dy = nullptr;
  T* dx = nullptr;
  T limit = 0;
};

// Sums of fixed blocks, or sums of their squares, so that the total does not depend on how the blocks are
// shared out. The range counts blocks.
inline constexpr int64_t kSumBlock = 4096;
template <class T>
struct BlockSum {
  const T* x = nullptr;
  int64_t count = 0;
  T* sums = nullptr;  // [ceil(count / kSumBlock)]
};

// y[c] += sum over rows of x[r, c], rows in ascending order. The range counts columns.
template <class T>
struct ColumnSum {
  const T* x = nullptr;  // [rows, cols]
  int64_t rows = 0, cols = 0;
  T* y = nullptr;
};

// Writes the row `x` to every row of y[rows, cols]. The range counts rows.
template <class T>
struct RepeatRow {
  const T* x = nullptr;
  int64_t cols = 0;
  T* y = nullptr;
};

// Rounds to nearest even.
template <class T>
struct ToBf16 {
  const T* x = nullptr;
  Bf16* y = nullptr;
};

template <class T>
struct FromBf16 {
  const Bf16* x = nullptr;
  T* y = nullptr;
};

}  // namespace sluice
