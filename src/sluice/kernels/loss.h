// Cross-entropy of rows of logits. Ranges count rows.
#pragma once

#include <cstdint>

namespace sluice {

// A row with this target has no loss and no gradient.
inline constexpr int32_t kIgnoredTarget = -100;

template <class T>
struct CrossEntropyForward {
  const T* logits = nullptr;  // [rows, vocabulary]
  const int32_t* targets = nullptr;
  int64_t vocabulary = 0;
  T* loss = nullptr;         // [rows]: -log p(target), 0 if ignored
  T* log_sum_exp = nullptr;  // [rows], kept for the gradient
};

// logits ← factor · (softmax(logits) - onehot(target)), in place.
template <class T>
struct CrossEntropyBackward {
  T* logits = nullptr;
  const int32_t* targets = nullptr;
  const T* log_sum_exp = nullptr;
  int64_t vocabulary = 0;
  T factor = 1;
};

}  // namespace sluice
