// Bounded by reading the weights from memory: docs/kernels.md has the measured share. For each further row
// the weights come from the cache and are widened again, which pays for kFewRows of them at most.
#include "sluice/kernels/simd/bf16_lanes.h"
#include "sluice/kernels/simd/register.h"

namespace sluice::SLUICE_SIMD_NAMESPACE {
namespace {

template <class Part>
HWY_INLINE Vector load_widened(const float* x, Part part) {
  return load(x, part);
}

// Elements ahead of the reading: the CPU's own prefetching stops at the end of a page, and a row may be one.
constexpr int64_t kAhead = 1024;

template <class W>
void few_rows(const FewRowsProduct<float, W>& args, Range outputs) {
  for (int64_t o = outputs.begin; o < outputs.end; ++o) {
    const W* weight = args.weight + o * args.k;
    for (int64_t r = 0; r < args.rows; ++r) {
      const float* x = args.x + r * args.k;
      const float product = sum(args.k, [&](int64_t i, auto part, Vector total) {
        __builtin_prefetch(weight + i + kAhead);
        return hn::MulAdd(load(x + i, part), load_widened(weight + i, part), total);
      });
      float& y = args.y[r * args.y_stride + o];
      y = args.output == Output::Accumulate ? y + product : product;
    }
  }
}

}  // namespace

void add_few_rows(Kernels<float>& table) {
  table.few_rows = few_rows<float>;
  table.few_rows_bf16 = few_rows<Bf16>;
}

}  // namespace sluice::SLUICE_SIMD_NAMESPACE
