// The update of a training step. Ranges count elements.
#pragma once

#include <cstdint>

namespace sluice {

// AdamW (Loshchilov and Hutter, 2019): the decay is taken off the value itself, not mixed into the gradient.
template <class T>
struct AdamWStep {
  T* value = nullptr;
  const T* grad = nullptr;
  T* first = nullptr;   // mean of gradients
  T* second = nullptr;  // mean of their squares
  T grad_scale = 1;     // below 1 where the gradient is clipped
  T rate = 0, beta1 = 0, beta2 = 0, eps = 0, decay = 0;
  T first_correction = 1, second_correction = 1;  // 1 / (1 - βᵗ): the means start at zero
};

}  // namespace sluice
