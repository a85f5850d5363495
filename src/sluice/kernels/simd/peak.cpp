// One core at its limit: both multiply-add ports, and reading memory.
#include "sluice/kernels/peak.h"

#include "sluice/kernels/simd/lanes.h"
#include "sluice/kernels/simd/register.h"

namespace sluice::SLUICE_SIMD_NAMESPACE {
namespace {

// Two ports with a latency of 4 cycles need 8 sums under way. 12 leave room for unequal port loads and, with
// the two constants, still fit AVX2's 16 registers.
constexpr int64_t kSums = 12;

// Each sum tends to 1, its fixed point: no overflow, no denormals.
int64_t f32_multiply_add(int64_t rounds, float* sink) {
  const Vector factor = set(0.75F);
  const Vector addend = set(0.25F);
  // Different starts, or the compiler could see that all are one.
  Vector a0 = set(0.10F), a1 = set(0.15F), a2 = set(0.20F), a3 = set(0.25F), a4 = set(0.30F), a5 = set(0.35F);
  Vector a6 = set(0.40F), a7 = set(0.45F), a8 = set(0.50F), a9 = set(0.55F), a10 = set(0.60F),
         a11 = set(0.65F);
  for (int64_t round = 0; round < rounds; ++round) {
    a0 = hn::MulAdd(a0, factor, addend);
    a1 = hn::MulAdd(a1, factor, addend);
    a2 = hn::MulAdd(a2, factor, addend);
    a3 = hn::MulAdd(a3, factor, addend);
    a4 = hn::MulAdd(a4, factor, addend);
    a5 = hn::MulAdd(a5, factor, addend);
    a6 = hn::MulAdd(a6, factor, addend);
    a7 = hn::MulAdd(a7, factor, addend);
    a8 = hn::MulAdd(a8, factor, addend);
    a9 = hn::MulAdd(a9, factor, addend);
    a10 = hn::MulAdd(a10, factor, addend);
    a11 = hn::MulAdd(a11, factor, addend);
  }
  const Vector low = hn::Add(hn::Add(hn::Add(a0, a1), hn::Add(a2, a3)), hn::Add(a4, a5));
  const Vector high = hn::Add(hn::Add(hn::Add(a6, a7), hn::Add(a8, a9)), hn::Add(a10, a11));
  *sink = sum_of_lanes(hn::Add(low, high));
  return rounds * kSums * kLanes * 2;
}

// Eight sums: the additions of one would take longer than the loads.
float read(const float* x, int64_t n) {
  Vector a0 = hn::Zero(tag), a1 = a0, a2 = a0, a3 = a0, a4 = a0, a5 = a0, a6 = a0, a7 = a0;
  int64_t i = 0;
  for (; i + 8 * kLanes <= n; i += 8 * kLanes) {
    a0 = hn::Add(a0, load(x + i, Full{}));
    a1 = hn::Add(a1, load(x + i + kLanes, Full{}));
    a2 = hn::Add(a2, load(x + i + 2 * kLanes, Full{}));
    a3 = hn::Add(a3, load(x + i + 3 * kLanes, Full{}));
    a4 = hn::Add(a4, load(x + i + 4 * kLanes, Full{}));
    a5 = hn::Add(a5, load(x + i + 5 * kLanes, Full{}));
    a6 = hn::Add(a6, load(x + i + 6 * kLanes, Full{}));
    a7 = hn::Add(a7, load(x + i + 7 * kLanes, Full{}));
  }
  for_each_vector(i, n, [&](int64_t at, auto part) { a0 = hn::Add(a0, load(x + at, part)); });
  const Vector low = hn::Add(hn::Add(a0, a1), hn::Add(a2, a3));
  return sum_of_lanes(hn::Add(low, hn::Add(hn::Add(a4, a5), hn::Add(a6, a7))));
}

}  // namespace

PeakKernels peak() {
  return {.f32_multiply_add = f32_multiply_add, .bf16_products = nullptr, .read = read};
}

}  // namespace sluice::SLUICE_SIMD_NAMESPACE
