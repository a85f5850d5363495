#include <algorithm>
#include <cmath>
#include <limits>

#include "sluice/kernels/reference/register.h"

namespace sluice::reference {
namespace {

// Scale of a group, and what its elements are multiplied by.
template <class T>
struct Scales {
  T scale, inverse;
};

template <class T>
Scales<T> scales_of(const T* x, int64_t n) {
  T largest = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (!std::isfinite(x[i])) return {std::numeric_limits<T>::quiet_NaN(), 0};
    largest = std::max(largest, std::abs(x[i]));
  }
  if (largest < static_cast<T>(kInt8Least)) return {0, 0};
  return {largest / kInt8Limit, kInt8Limit / largest};
}

template <class T>
void quantize_rows(const QuantizeRows<T>& args, Range rows) {
  const int64_t groups = int8_groups(args.k);
  const int64_t width = int8_words(args.k) * kInt8Word;
  for (int64_t r = rows.begin; r < rows.end; ++r) {
    const T* x = args.x + r * args.k;
    int8_t* q = args.q + r * width;
    std::fill(q + args.k, q + width, int8_t{0});
    for (int64_t g = 0; g < groups; ++g) {
      const int64_t first = g * kInt8Group;
      const int64_t end = std::min(first + kInt8Group, args.k);
      const Scales<T> scales = scales_of(x + first, end - first);
      int32_t sum = 0;
      for (int64_t i = first; i < end; ++i) {
        // Infinity · 0 is no number, and no number is no integer.
        q[i] = scales.inverse > 0 ? static_cast<int8_t>(std::nearbyint(x[i] * scales.inverse)) : int8_t{0};
        sum += q[i];
      }
      args.scales[r * groups + g] = scales.scale;
      args.sums[r * groups + g] = sum;
    }
  }
}

template <class T>
int32_t group_sum(const Int8Product<T>& args, int64_t row, int64_t output, int64_t group) {
  const int64_t words = int8_words(args.k);
  const int8_t* x = args.x.q + row * words * kInt8Word;
  const int8_t* weight = args.weight + output / kInt8Outputs * words * kInt8Outputs * kInt8Word +
                         output % kInt8Outputs * kInt8Word;
  int32_t sum = 0;
  for (int64_t i = group * kInt8Group; i < std::min((group + 1) * kInt8Group, args.k); ++i)
    sum += x[i] * weight[i / kInt8Word * kInt8Outputs * kInt8Word + i % kInt8Word];
  return sum;
}

template <class T>
void int8_rows(const Int8Product<T>& args, Range blocks) {
  const int64_t groups = int8_groups(args.k);
  const int64_t end = std::min(blocks.end * kInt8Outputs, args.outputs);
  for (int64_t o = blocks.begin * kInt8Outputs; o < end; ++o) {
    const T* scales = args.weight_scales + o / kInt8Outputs * groups * kInt8Outputs + o % kInt8Outputs;
    for (int64_t r = 0; r < args.rows; ++r) {
      T sum = 0;
      for (int64_t g = 0; g < groups; ++g) {
        const T scale = args.x.scales[r * groups + g] * scales[g * kInt8Outputs];
        sum += static_cast<T>(group_sum(args, r, o, g)) * scale;
      }
      T& y = args.y[r * args.y_stride + o];
      y = args.output == Output::Accumulate ? y + sum : sum;
    }
  }
}

}  // namespace

template <class T>
void add_int8(Kernels<T>& table) {
  table.quantize_rows = quantize_rows<T>;
  table.int8_rows = int8_rows<T>;
}

template void add_int8(Kernels<float>&);
template void add_int8(Kernels<double>&);

}  // namespace sluice::reference
