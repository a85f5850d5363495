// Elementwise kernels and plain sums, all bounded by memory bandwidth. In a cache swiglu is bounded by its
// exponential and division, about 16 cycles a vector on Zen 3.
#include "sluice/kernels/simd/bf16_lanes.h"
#include "sluice/kernels/simd/math.h"
#include "sluice/kernels/simd/register.h"

namespace sluice::SLUICE_SIMD_NAMESPACE {
namespace {

void scaled_add(const ScaledAdd<float>& args, Range range) {
  const Vector factor = set(args.factor);
  for_each_vector(range.begin, range.end, [&](int64_t i, auto part) {
    store(hn::MulAdd(factor, load(args.b + i, part), load(args.a + i, part)), args.y + i, part);
  });
}

void scale(const Scale<float>& args, Range range) {
  const Vector factor = set(args.factor);
  for_each_vector(range.begin, range.end, [&](int64_t i, auto part) {
    store(hn::Mul(factor, load(args.x + i, part)), args.y + i, part);
  });
}

void swiglu_forward(const SwigluForward<float>& args, Range range) {
  for_each_vector(range.begin, range.end, [&](int64_t i, auto part) {
    store(hn::Mul(silu(load(args.gate + i, part)), load(args.up + i, part)), args.y + i, part);
  });
}

void swiglu_backward(const SwigluBackward<float>& args, Range range) {
  for_each_vector(range.begin, range.end, [&](int64_t i, auto part) {
    const ValueAndSlope gate = silu_with_slope(load(args.gate + i, part));
    const Vector dy = load(args.dy + i, part);
    const Vector up = load(args.up + i, part);
    store(hn::Mul(hn::Mul(dy, up), gate.slope), args.dgate + i, part);
    store(hn::Mul(dy, gate.value), args.dup + i, part);
  });
}

void block_sum(const BlockSum<float>& args, Range blocks) {
  for (int64_t block = blocks.begin; block < blocks.end; ++block) {
    const float* x = args.x + block * kSumBlock;
    const int64_t left = args.count - block * kSumBlock;
    args.sums[block] = sum(left < kSumBlock ? left : kSumBlock, [&](int64_t i, auto part, Vector total) {
      return hn::Add(total, load(x + i, part));
    });
  }
}

void block_square_sum(const BlockSum<float>& args, Range blocks) {
  for (int64_t block = blocks.begin; block < blocks.end; ++block) {
    const float* x = args.x + block * kSumBlock;
    const int64_t left = args.count - block * kSumBlock;
    args.sums[block] = dot(x, x, left < kSumBlock ? left : kSumBlock);
  }
}

// Four rows at a time, so that y is read and written once per four rows of x.
void column_sum(const ColumnSum<float>& args, Range columns) {
  constexpr int64_t kRows = 4;
  const int64_t cols = args.cols;
  int64_t row = 0;
  for (; row + kRows <= args.rows; row += kRows) {
    const float* x = args.x + row * cols;
    for_each_vector(columns.begin, columns.end, [&](int64_t c, auto part) {
      Vector total = hn::Add(load(args.y + c, part), load(x + c, part));
      total = hn::Add(total, load(x + cols + c, part));
      total = hn::Add(total, load(x + 2 * cols + c, part));
      total = hn::Add(total, load(x + 3 * cols + c, part));
      store(total, args.y + c, part);
    });
  }
  for (; row < args.rows; ++row) {
    for_each_vector(columns.begin, columns.end, [&](int64_t c, auto part) {
      store(hn::Add(load(args.y + c, part), load(args.x + row * cols + c, part)), args.y + c, part);
    });
  }
}

// Comparisons and not Min and Max: those lose a NaN.
void clip_forward(const ClipForward<float>& args, Range range) {
  const Vector high = set(args.limit);
  const Vector low = set(-args.limit);
  for_each_vector(range.begin, range.end, [&](int64_t i, auto part) {
    const Vector x = load(args.x + i, part);
    const Vector below = hn::IfThenElse(hn::operator>(x, high), high, x);
    store(hn::IfThenElse(hn::operator>(low, x), low, below), args.y + i, part);
  });
}

void clip_backward(const ClipBackward<float>& args, Range range) {
  const Vector high = set(args.limit);
  const Vector low = set(-args.limit);
  for_each_vector(range.begin, range.end, [&](int64_t i, auto part) {
    const Vector x = load(args.x + i, part);
    const Vector kept = hn::IfThenElse(hn::operator>(x, high), hn::Zero(tag), load(args.dy + i, part));
    store(hn::IfThenElse(hn::operator>(low, x), hn::Zero(tag), kept), args.dx + i, part);
  });
}

void repeat_row(const RepeatRow<float>& args, Range rows) {
  if (args.cols == 0) return;
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    std::memcpy(args.y + row * args.cols, args.x, static_cast<size_t>(args.cols) * sizeof(float));
  }
}

void to_bf16(const ToBf16<float>& args, Range range) {
  for_each_vector(range.begin, range.end, [&](int64_t i, auto part) {
    store_bf16(round_to_bf16(load(args.x + i, part)), args.y + i, part);
  });
}

void from_bf16(const FromBf16<float>& args, Range range) {
  for_each_vector(range.begin, range.end,
                  [&](int64_t i, auto part) { store(load_widened(args.x + i, part), args.y + i, part); });
}

}  // namespace

void add_elementwise(Kernels<float>& table) {
  table.scaled_add = scaled_add;
  table.scale = scale;
  table.swiglu_forward = swiglu_forward;
  table.swiglu_backward = swiglu_backward;
  table.clip_forward = clip_forward;
  table.clip_backward = clip_backward;
  table.block_sum = block_sum;
  table.block_square_sum = block_square_sum;
  table.column_sum = column_sum;
  table.repeat_row = repeat_row;
  table.to_bf16 = to_bf16;
  table.from_bf16 = from_bf16;
}

}  // namespace sluice::SLUICE_SIMD_NAMESPACE
