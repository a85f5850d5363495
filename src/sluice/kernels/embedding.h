// Rows of a table picked by token id.
#pragma once

#include <cstdint>

namespace sluice {

// y[n] = table[ids[n]]. The range counts tokens.
template <class T>
struct EmbeddingForward {
  const T* table = nullptr;  // [V, width]
  const int32_t* ids = nullptr;
  int64_t width = 0;
  T* y = nullptr;
};

// dtable[ids[n]] += dy[n], tokens in ascending order. The range counts columns: two threads never meet in a
// row.
template <class T>
struct EmbeddingBackward {
  const int32_t* ids = nullptr;
  int64_t tokens = 0;
  const T* dy = nullptr;
  int64_t width = 0;
  T* dtable = nullptr;
};

}  // namespace sluice
