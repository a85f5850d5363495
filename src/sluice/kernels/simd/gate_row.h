// A gate with scores of its own on one head of one token. hd head_dim; scores are [hd], or one if head-wise.
#pragma once

#include "sluice/kernels/gate.h"
#include "sluice/kernels/simd/activation.h"

namespace sluice::SLUICE_SIMD_NAMESPACE {
namespace {

struct Multiply {
  static HWY_INLINE Vector apply(Vector x, Vector value) { return hn::Mul(x, value); }
  static HWY_INLINE Vector dx(Vector dy, Vector value) { return hn::Mul(dy, value); }
  static HWY_INLINE Vector dvalue(Vector dy, Vector x) { return hn::Mul(dy, x); }
};

struct Addition {
  static HWY_INLINE Vector apply(Vector x, Vector value) { return hn::Add(x, value); }
  static HWY_INLINE Vector dx(Vector dy, Vector) { return dy; }
  static HWY_INLINE Vector dvalue(Vector dy, Vector) { return dy; }
};

// Calls body(activation, mode) with the types that stand for them.
template <class Body>
void with_form(const GateForm& form, const Body& body) {
  with_activation(form.activation, [&](auto act) {
    form.mode == GateMode::Multiply ? body(act, Multiply{}) : body(act, Addition{});
  });
}

struct GateRow {
  int64_t head_dim;
  bool headwise;
  const float* scores;
};

// y = x with value(d, part).
template <class Mode, class Value>
HWY_INLINE void gate_channels(int64_t head_dim, const float* x, float* y, const Value& value) {
  for_each_vector(0, head_dim, [&](int64_t d, auto part) {
    store(Mode::apply(load(x + d, part), value(d, part)), y + d, part);
  });
}

// x and y may be the same.
template <class Act, class Mode>
HWY_INLINE void gate_row(const GateRow& row, const float* x, float* y) {
  if (row.headwise) {
    const Vector value = Act::value(set(row.scores[0]));
    gate_channels<Mode>(row.head_dim, x, y, [&](int64_t, auto) { return value; });
  } else {
    gate_channels<Mode>(row.head_dim, x, y,
                        [&](int64_t d, auto part) { return Act::value(load(row.scores + d, part)); });
  }
}

struct GateRowGradient {
  const float* x;
  const float* dy;
  float* dx;
  float* dscores;
};

// Writes dx of a head whose value is the same in all channels and returns the gradient of that value.
template <class Mode>
HWY_INLINE float headwise_backward(int64_t head_dim, const GateRowGradient& to, Vector value) {
  return sum(head_dim, [&](int64_t d, auto part, Vector total) {
    const Vector dy = load(to.dy + d, part);
    const Vector x = load(to.x + d, part);
    store(Mode::dx(dy, value), to.dx + d, part);
    return hn::Add(total, Mode::dvalue(dy, x));
  });
}

template <class Act, class Mode>
HWY_INLINE void gate_row_backward(const GateRow& row, const GateRowGradient& to) {
  if (row.headwise) {
    const ValueAndSlope act = Act::with_slope(set(row.scores[0]));
    to.dscores[0] = headwise_backward<Mode>(row.head_dim, to, act.value) * hn::GetLane(act.slope);
    return;
  }
  for_each_vector(0, row.head_dim, [&](int64_t d, auto part) {
    const ValueAndSlope act = Act::with_slope(load(row.scores + d, part));
    const Vector dy = load(to.dy + d, part);
    const Vector dvalue = Mode::dvalue(dy, load(to.x + d, part));
    store(Mode::dx(dy, act.value), to.dx + d, part);
    store(hn::Mul(dvalue, act.slope), to.dscores + d, part);
  });
}

}  // namespace
}  // namespace sluice::SLUICE_SIMD_NAMESPACE
