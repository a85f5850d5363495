// Bounded by reading the weights from memory for a row or two, by the multiplications for many:
// docs/kernels.md has the measured shares.
#include "sluice/kernels/simd/int8_lanes.h"
#include "sluice/kernels/simd/register.h"

namespace sluice::SLUICE_SIMD_NAMESPACE {
namespace {

constexpr Int32Tag ints{};

int64_t smaller(int64_t a, int64_t b) {
  return a < b ? a : b;
}

// The largest magnitude. As bits, so that a NaN is larger than everything else.
HWY_INLINE float largest_magnitude(const float* x, int64_t n) {
  Int32s best = hn::Zero(ints);
  for_each_vector(0, n, [&](int64_t i, auto part) {
    best = hn::Max(best, hn::And(hn::BitCast(ints, load(x + i, part)), hn::Set(ints, 0x7fffffff)));
  });
  return hn::GetLane(hn::BitCast(tag, hn::MaxOfLanes(ints, best)));
}

HWY_INLINE void store_int8(Int32s v, int8_t* q, Full) {
  const hn::Rebind<int8_t, Tag> bytes{};
  hn::StoreU(hn::DemoteTo(bytes, v), bytes, q);
}

HWY_INLINE void store_int8(Int32s v, int8_t* q, Tail tail) {
  alignas(sizeof(Vector)) int8_t lanes[kLanes];
  store_int8(v, lanes, Full{});
  std::memcpy(q, lanes, static_cast<size_t>(tail.lanes));
}

// The sum of what was stored.
HWY_INLINE int32_t store_rounded(const float* x, int64_t n, float inverse, int8_t* q) {
  Int32s total = hn::Zero(ints);
  for_each_vector(0, n, [&](int64_t i, auto part) {
    const Int32s rounded = nearest_integers(hn::Mul(load(x + i, part), set(inverse)));
    store_int8(rounded, q + i, part);
    total = hn::Add(total, rounded);
  });
  return hn::GetLane(hn::SumOfLanes(ints, total));
}

struct Group {
  float scale = 0.0F;
  int32_t sum = 0;
};

Group quantize_group(const float* x, int64_t n, int8_t* q) {
  const float largest = largest_magnitude(x, n);
  const bool finite = largest <= __FLT_MAX__;
  if (finite && largest >= kInt8Least) {
    return {.scale = largest / static_cast<float>(kInt8Limit),
            .sum = store_rounded(x, n, static_cast<float>(kInt8Limit) / largest, q)};
  }
  std::memset(q, 0, static_cast<size_t>(n));
  return {.scale = finite ? 0.0F : __builtin_nanf("")};
}

void quantize_rows(const QuantizeRows<float>& args, Range rows) {
  const int64_t groups = int8_groups(args.k);
  const int64_t width = int8_words(args.k) * kInt8Word;
  for (int64_t r = rows.begin; r < rows.end; ++r) {
    int8_t* q = args.q + r * width;
    for (int64_t i = args.k; i < width; ++i) q[i] = 0;
    for (int64_t g = 0; g < groups; ++g) {
      const int64_t first = g * kInt8Group;
      const Group group =
          quantize_group(args.x + r * args.k + first, smaller(kInt8Group, args.k - first), q + first);
      args.scales[r * groups + g] = group.scale;
      args.sums[r * groups + g] = group.sum;
    }
  }
}

// Vectors of a block's 16 outputs.
constexpr int64_t kVectors = kInt8Outputs / kLanes;

// 8 vectors of integers: with a word of weights and of the input they fit the 16 registers of AVX2.
constexpr int64_t kMostRows = 8 / kVectors;

// Bytes ahead of the reading: the CPU's own prefetching stops at the end of a page.
constexpr int64_t kAhead = 2048;

constexpr int64_t kWordBytes = kInt8Outputs * kInt8Word;

template <int64_t kRows>
using Sums = Int32s[kRows][kVectors];

// A group of both operands.
struct GroupOperands {
  const int8_t* x;  // the first row's
  int64_t x_stride;
  const int8_t* weight;
  int64_t words;
};

// Unrolled on purpose: sums that a loop indexes stay in memory, and -O2 alone does not unroll.
template <int64_t kRows>
HWY_INLINE void add_group(const GroupOperands& group, Sums<kRows>& sums) {
  for (int64_t i = 0; i < group.words; ++i) {
    const int8_t* weight = group.weight + i * kWordBytes;
    __builtin_prefetch(weight + kAhead);
    WeightWords loaded[kVectors];
    HWY_UNROLL(2)
    for (int64_t v = 0; v < kVectors; ++v) loaded[v] = load_weights(weight + v * kLanes * kInt8Word);
    HWY_UNROLL(8)
    for (int64_t r = 0; r < kRows; ++r) {
      int32_t word;
      std::memcpy(&word, group.x + r * group.x_stride + i * kInt8Word, sizeof word);
      HWY_UNROLL(2)
      for (int64_t v = 0; v < kVectors; ++v) sums[r][v] = multiply_add(sums[r][v], loaded[v], word);
    }
  }
}

void write_outputs(const Int8Product<float>& args, int64_t row, int64_t block, const float* sums) {
  const int64_t first = block * kInt8Outputs;
  float* y = args.y + row * args.y_stride + first;
  for_each_vector(0, smaller(kInt8Outputs, args.outputs - first), [&](int64_t i, auto part) {
    const Vector sum = load(sums + i, part);
    store(args.output == Output::Accumulate ? hn::Add(load(y + i, part), sum) : sum, y + i, part);
  });
}

// A block of outputs of kRows rows from `row` on.
template <int64_t kRows>
void multiply_rows(const Int8Product<float>& args, int64_t row, int64_t block) {
  const int64_t words = int8_words(args.k), groups = int8_groups(args.k);
  const int8_t* x = args.x.q + row * words * kInt8Word;
  const float* x_scales = args.x.scales + row * groups;
  const int8_t* weight = args.weight + block * words * kWordBytes;
  const float* weight_scales = args.weight_scales + block * groups * kInt8Outputs;
  alignas(64) float totals[kRows * kInt8Outputs] = {};
  for (int64_t g = 0; g < groups; ++g) {
    const int64_t first = g * kInt8GroupWords;
    Sums<kRows> sums;
    HWY_UNROLL(8)
    for (int64_t r = 0; r < kRows; ++r) {
      HWY_UNROLL(2)
      for (int64_t v = 0; v < kVectors; ++v) sums[r][v] = hn::Zero(ints);
    }
    add_group<kRows>({.x = x + first * kInt8Word,
                      .x_stride = words * kInt8Word,
                      .weight = weight + first * kWordBytes,
                      .words = smaller(kInt8GroupWords, words - first)},
                     sums);
    HWY_UNROLL(8)
    for (int64_t r = 0; r < kRows; ++r) {
      HWY_UNROLL(2)
      for (int64_t v = 0; v < kVectors; ++v) {
        const Vector scale = hn::Mul(set(x_scales[r * groups + g]),
                                     load(weight_scales + g * kInt8Outputs + v * kLanes, Full{}));
        float* total = totals + r * kInt8Outputs + v * kLanes;
        store(hn::Add(load(total, Full{}), hn::Mul(hn::ConvertTo(tag, sums[r][v]), scale)), total, Full{});
      }
    }
  }
  for (int64_t r = 0; r < kRows; ++r) write_outputs(args, row + r, block, totals + r * kInt8Outputs);
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
  table.quantize_rows = quantize_rows;
  table.int8_rows = int8_rows;
}

}  // namespace sluice::SLUICE_SIMD_NAMESPACE
