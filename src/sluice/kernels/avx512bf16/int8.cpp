// Four products per lane and instruction (vpdpbusd). Bounded by reading the weights for a few rows, and by
// the multiplications for many. Not measured: no machine with it was at hand, see docs/kernels.md.
#include "sluice/kernels/int8.h"

#include <cstring>

#include "sluice/kernels/avx512bf16/register.h"
#include "sluice/kernels/intrinsics.h"

namespace sluice::avx512bf16 {
namespace {

// The instruction wants one side unsigned: the weights become weight + 128, and 128 times the sum of the
// input's group is taken off.
constexpr int32_t kOffset = 128;

constexpr int64_t kWordBytes = kInt8Outputs * kInt8Word;

// Sums of that many rows run side by side, which covers the latency, and the weights are loaded once for all
// of them.
constexpr int64_t kMostRows = 8;

// Bytes ahead of the reading: the CPU's own prefetching stops at the end of a page.
constexpr int64_t kAhead = 2048;

int64_t smaller(int64_t a, int64_t b) {
  return a < b ? a : b;
}

// A group of both operands.
struct Group {
  const int8_t* x;  // the first row's
  int64_t x_stride;
  const int8_t* weight;
  int64_t words;
};

template <int64_t kRows>
inline __attribute__((always_inline)) void add_group(const Group& group, __m512i (&sums)[kRows]) {
  const __m512i offset = _mm512_set1_epi8(static_cast<char>(kOffset));
  for (int64_t i = 0; i < group.words; ++i) {
    const int8_t* words = group.weight + i * kWordBytes;
    __builtin_prefetch(words + kAhead);
    const __m512i weight = _mm512_xor_si512(_mm512_loadu_si512(words), offset);
#pragma GCC unroll 8
    for (int64_t r = 0; r < kRows; ++r) {
      int32_t x;
      std::memcpy(&x, group.x + r * group.x_stride + i * kInt8Word, sizeof x);
      sums[r] = _mm512_dpbusd_epi32(sums[r], weight, _mm512_set1_epi32(x));
    }
  }
}

void write_outputs(const Int8Product<float>& args, int64_t row, int64_t block, __m512 sums) {
  const int64_t first = block * kInt8Outputs;
  const auto columns = static_cast<unsigned>(smaller(kInt8Outputs, args.outputs - first));
  const auto mask = static_cast<__mmask16>((1U << columns) - 1U);
  float* y = args.y + row * args.y_stride + first;
  if (args.output == Output::Accumulate) sums = _mm512_add_ps(_mm512_maskz_loadu_ps(mask, y), sums);
  _mm512_mask_storeu_ps(y, mask, sums);
}

// A block of outputs of kRows rows from `row` on.
template <int64_t kRows>
void multiply_rows(const Int8Product<float>& args, int64_t row, int64_t block) {
  const int64_t words = int8_words(args.k), groups = int8_groups(args.k);
  const int8_t* x = args.x.q + row * words * kInt8Word;
  const int8_t* weight = args.weight + block * words * kWordBytes;
  const float* weight_scales = args.weight_scales + block * groups * kInt8Outputs;
  __m512 totals[kRows];
#pragma GCC unroll 8
  for (int64_t r = 0; r < kRows; ++r) totals[r] = _mm512_setzero_ps();
  for (int64_t g = 0; g < groups; ++g) {
    const int64_t first = g * kInt8GroupWords;
    __m512i sums[kRows];
#pragma GCC unroll 8
    for (int64_t r = 0; r < kRows; ++r)
      sums[r] = _mm512_set1_epi32(-kOffset * args.x.sums[(row + r) * groups + g]);
    add_group<kRows>({.x = x + first * kInt8Word,
                      .x_stride = words * kInt8Word,
                      .weight = weight + first * kWordBytes,
                      .words = smaller(kInt8GroupWords, words - first)},
                     sums);
    const __m512 scales = _mm512_loadu_ps(weight_scales + g * kInt8Outputs);
#pragma GCC unroll 8
    for (int64_t r = 0; r < kRows; ++r) {
      const __m512 scale = _mm512_mul_ps(_mm512_set1_ps(args.x.scales[(row + r) * groups + g]), scales);
      totals[r] = _mm512_add_ps(totals[r], _mm512_mul_ps(_mm512_cvtepi32_ps(sums[r]), scale));
    }
  }
#pragma GCC unroll 8
  for (int64_t r = 0; r < kRows; ++r) write_outputs(args, row + r, block, totals[r]);
}

// kRows at a time, and the rest by halves.
template <int64_t kRows>
void multiply_block(const Int8Product<float>& args, int64_t row, int64_t block) {
  for (; row + kRows <= args.rows; row += kRows) multiply_rows<kRows>(args, row, block);
  if constexpr (kRows > 1) multiply_block<kRows / 2>(args, row, block);
}

void int8_rows(const Int8Product<float>& args, Range blocks) {
  for (int64_t block = blocks.begin; block < blocks.end; ++block) multiply_block<kMostRows>(args, 0, block);
}

}  // namespace

void add_int8(Kernels<float>& table) {
  table.int8_rows = int8_rows;
}

}  // namespace sluice::avx512bf16
