// The gate on attention's result, row by row where attention passes them anyway.
// Rows count tokens times query heads.
#pragma once

#include "sluice/kernels/attention.h"
#include "sluice/kernels/simd/gate_row.h"

namespace sluice::SLUICE_SIMD_NAMESPACE {
namespace {

template <class Args>
GateRow gate_row_of(const Args& args, int64_t row) {
  const bool headwise = args.gate.form.granularity == Granularity::Headwise;
  return {args.shape.head_dim, headwise, args.gate.scores + row * (headwise ? 1 : args.shape.head_dim)};
}

inline void gate_result(const AttentionForward<float>& args, int64_t row, const float* y) {
  with_form(args.gate.form, [&]<class Act, class Mode>(Act, Mode) {
    gate_row<Act, Mode>(gate_row_of(args, row), y, args.gated + row * args.shape.head_dim);
  });
}

// dy of the result before the gate, from that of the gated one; writes the gradient of the scores, too.
inline void gate_result_backward(const AttentionBackward<float>& args, int64_t row, float* dy) {
  const GateRow gate = gate_row_of(args, row);
  const int64_t at = row * args.shape.head_dim;
  with_form(args.gate.form, [&]<class Act, class Mode>(Act, Mode) {
    gate_row_backward<Act, Mode>(
        gate, {args.y + at, args.dy + at, dy, args.dscores + row * (gate.headwise ? 1 : gate.head_dim)});
  });
}

}  // namespace
}  // namespace sluice::SLUICE_SIMD_NAMESPACE
