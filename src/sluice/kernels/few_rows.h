// Product of a few rows with the transpose of a matrix, as decoding needs it: every weight is used once per
// row, so reading the matrix from memory is what takes the time. Ranges count outputs.
#pragma once

#include <cstdint>

#include "sluice/kernels/gemm.h"
#include "sluice/tensor/bf16.h"

namespace sluice {

// From this many rows on gemm is faster, although it packs the matrix first.
inline constexpr int64_t kFewRows = 4;

// y[r, o] = x[r, :] · weight[o, :], or added to y. The weight W may be narrower than what is computed in.
template <class T, class W>
struct FewRowsProduct {
  int64_t rows = 0, k = 0;
  const T* x = nullptr;       // [rows, k]
  const W* weight = nullptr;  // [outputs, k]
  T* y = nullptr;             // [rows, outputs]
  int64_t y_stride = 0;
  Output output = Output::Overwrite;
};

}  // namespace sluice
