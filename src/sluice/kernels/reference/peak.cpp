#include "sluice/kernels/reference/peak.h"

namespace sluice::reference {
namespace {

constexpr int kSums = 12;  // as in simd/peak.cpp

// Each sum tends to 1, its fixed point: no overflow, no denormals.
int64_t f32_multiply_add(int64_t rounds, float* sink) {
  float sums[kSums];
  for (int i = 0; i < kSums; ++i) sums[i] = 0.05F * static_cast<float>(i + 2);
  for (int64_t round = 0; round < rounds; ++round) {
    for (float& sum : sums) sum = sum * 0.75F + 0.25F;
  }
  *sink = 0.0F;
  for (const float sum : sums) *sink += sum;
  return rounds * kSums * 2;
}

float read(const float* x, int64_t n) {
  constexpr int64_t kStreams = 8;
  float sums[kStreams] = {};
  int64_t i = 0;
  for (; i + kStreams <= n; i += kStreams) {
    for (int64_t s = 0; s < kStreams; ++s) sums[s] += x[i + s];
  }
  for (; i < n; ++i) sums[0] += x[i];
  float total = 0.0F;
  for (const float sum : sums) total += sum;
  return total;
}

}  // namespace

PeakKernels peak() {
  return {.f32_multiply_add = f32_multiply_add, .bf16_products = nullptr, .read = read};
}

}  // namespace sluice::reference
