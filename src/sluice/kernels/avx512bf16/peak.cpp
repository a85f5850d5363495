// One core at the limit of vdpbf16ps: two products per lane and instruction.
#include <cstdint>

#include "sluice/kernels/avx512bf16/register.h"
#include "sluice/kernels/intrinsics.h"

namespace sluice::avx512bf16 {
namespace {

// Two ports with a latency of 6 cycles, as Zen 4 has it, need 12 sums under way where vectors are as wide as
// the ports.
constexpr int64_t kSums = 12;
constexpr int64_t kOperations = 16 * 2 * 2;  // of an instruction: lanes, products, multiply and add

}  // namespace

// Every factor is 1/16: a sum grows by 1/128 until that is less than its last bit.
int64_t bf16_multiply_add(int64_t rounds, float* sink) {
  const auto factor = reinterpret_cast<__m512bh>(_mm512_set1_epi32(0x3d803d80));
  __m512 total[kSums];
  // Different starts, or the compiler could see that all are one.
#pragma GCC unroll 12
  for (int64_t i = 0; i < kSums; ++i) total[i] = _mm512_set1_ps(static_cast<float>(i));
  for (int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (int64_t i = 0; i < kSums; ++i) total[i] = _mm512_dpbf16_ps(total[i], factor, factor);
  }
#pragma GCC unroll 12
  for (int64_t i = 1; i < kSums; ++i) total[0] = _mm512_add_ps(total[0], total[i]);
  *sink = _mm512_reduce_add_ps(total[0]);
  return rounds * kSums * kOperations;
}

}  // namespace sluice::avx512bf16
