// Softmax of rows, for routers: rows are as wide as there are experts. Ranges count rows.
#pragma once

#include <cstdint>

namespace sluice {

// y = e^x / Σ e^x over each row.
template <class T>
struct SoftmaxForward {
  const T* x = nullptr;  // [rows, width]
  int64_t width = 0;
  T* y = nullptr;
};

// dx = y · (dy - Σ y · dy)
template <class T>
struct SoftmaxBackward {
  const T* y = nullptr;  // [rows, width]
  const T* dy = nullptr;
  int64_t width = 0;
  T* dx = nullptr;
};

}  // namespace sluice
