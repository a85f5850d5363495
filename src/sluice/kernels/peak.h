// Short loops that run one unit of the processor at its limit; bench and doctor time them.
#pragma once

#include <cstdint>

namespace sluice {

struct PeakKernels {
  // Runs `rounds` rounds of independent multiply-adds in registers; returns the floating-point operations
  // done. The sum of all accumulators goes to *sink so that the compiler cannot drop the work.
  int64_t (*f32_multiply_add)(int64_t rounds, float* sink) = nullptr;
  // The same with the fastest instruction for products of bf16, on tiles or on vectors; none where they are
  // multiply-adds in f32.
  int64_t (*bf16_products)(int64_t rounds, float* sink) = nullptr;
  // Sum of n floats, read once: bounded by memory bandwidth when they do not fit a cache.
  float (*read)(const float* x, int64_t n) = nullptr;
};

}  // namespace sluice
