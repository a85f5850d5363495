#include "sluice/kernels/reference/math.h"
#include "sluice/kernels/reference/register.h"

namespace sluice::reference {
namespace {

template <class T>
void scaled_add(const ScaledAdd<T>& args, Range range) {
  for (int64_t i = range.begin; i < range.end; ++i) args.y[i] = args.a[i] + args.factor * args.b[i];
}

template <class T>
void scale(const Scale<T>& args, Range range) {
  for (int64_t i = range.begin; i < range.end; ++i) args.y[i] = args.factor * args.x[i];
}

template <class T>
void swiglu_forward(const SwigluForward<T>& args, Range range) {
  for (int64_t i = range.begin; i < range.end; ++i) {
    args.y[i] = args.gate[i] * sigmoid(args.gate[i]) * args.up[i];
  }
}

template <class T>
void swiglu_backward(const SwigluBackward<T>& args, Range range) {
  for (int64_t i = range.begin; i < range.end; ++i) {
    const T gate = args.gate[i];
    args.dgate[i] = args.dy[i] * args.up[i] * silu_slope(gate);
    args.dup[i] = args.dy[i] * gate * sigmoid(gate);
  }
}

template <class T>
void clip_forward(const ClipForward<T>& args, Range range) {
  for (int64_t i = range.begin; i < range.end; ++i) {
    const T x = args.x[i];
    args.y[i] = x > args.limit ? args.limit : x < -args.limit ? -args.limit : x;
  }
}

template <class T>
void clip_backward(const ClipBackward<T>& args, Range range) {
  for (int64_t i = range.begin; i < range.end; ++i) {
    args.dx[i] = args.x[i] > args.limit || args.x[i] < -args.limit ? T(0) : args.dy[i];
  }
}

template <class T>
void block_sum(const BlockSum<T>& args, Range blocks) {
  for (int64_t block = blocks.begin; block < blocks.end; ++block) {
    const int64_t end = std::min(args.count, (block + 1) * kSumBlock);
    T sum = 0;
    for (int64_t i = block * kSumBlock; i < end; ++i) sum += args.x[i];
    args.sums[block] = sum;
  }
}

template <class T>
void block_square_sum(const BlockSum<T>& args, Range blocks) {
  for (int64_t block = blocks.begin; block < blocks.end; ++block) {
    const int64_t end = std::min(args.count, (block + 1) * kSumBlock);
    T sum = 0;
    for (int64_t i = block * kSumBlock; i < end; ++i) sum += args.x[i] * args.x[i];
    args.sums[block] = sum;
  }
}

template <class T>
void column_sum(const ColumnSum<T>& args, Range columns) {
  for (int64_t row = 0; row < args.rows; ++row) {
    for (int64_t col = columns.begin; col < columns.end; ++col) args.y[col] += args.x[row * args.cols + col];
  }
}

template <class T>
void repeat_row(const RepeatRow<T>& args, Range rows) {
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    std::copy(args.x, args.x + args.cols, args.y + row * args.cols);
  }
}

template <class T>
void round_to_bf16(const ToBf16<T>& args, Range range) {
  for (int64_t i = range.begin; i < range.end; ++i) args.y[i] = to_bf16(static_cast<float>(args.x[i]));
}

template <class T>
void widen_bf16(const FromBf16<T>& args, Range range) {
  for (int64_t i = range.begin; i < range.end; ++i) args.y[i] = to_float(args.x[i]);
}

}  // namespace

template <class T>
void add_elementwise(Kernels<T>& table) {
  table.scaled_add = scaled_add<T>;
  table.scale = scale<T>;
  table.swiglu_forward = swiglu_forward<T>;
  table.swiglu_backward = swiglu_backward<T>;
  table.clip_forward = clip_forward<T>;
  table.clip_backward = clip_backward<T>;
  table.block_sum = block_sum<T>;
  table.block_square_sum = block_square_sum<T>;
  table.column_sum = column_sum<T>;
  table.repeat_row = repeat_row<T>;
  table.to_bf16 = round_to_bf16<T>;
  table.from_bf16 = widen_bf16<T>;
}

template void add_elementwise(Kernels<float>&);
template void add_elementwise(Kernels<double>&);

}  // namespace sluice::reference
