// The gate. Bounded by memory bandwidth if head-wise, by the activation's exponential if element-wise and in
// cache. Shapes: H heads, hd head_dim, w scores per head (hd or 1); x[tokens, H, hd], scores[tokens, H, w].
#include "sluice/kernels/simd/gate_row.h"
#include "sluice/kernels/simd/register.h"

namespace sluice::SLUICE_SIMD_NAMESPACE {
namespace {

struct Shape {
  int64_t heads, head_dim, width;
  bool headwise, shared;
};

Shape shape_of(const GateShape& shape) {
  const bool headwise = shape.form.granularity == Granularity::Headwise;
  return {shape.heads, shape.head_dim, headwise ? 1 : shape.head_dim, headwise,
          shape.form.sharing == Sharing::Shared};
}

// Heads in ascending order. With one score per head this is a vector with one lane in use, still little work
// against the head_dim channels of each head.
template <class Act>
void mean_over_heads(const Shape& shape, const float* scores, float* mean) {
  for_each_vector(0, shape.width, [&](int64_t d, auto part) {
    Vector total = hn::Zero(tag);
    for (int64_t h = 0; h < shape.heads; ++h) {
      total = hn::Add(total, Act::value(load(scores + h * shape.width + d, part)));
    }
    store(hn::Div(total, set(static_cast<float>(shape.heads))), mean + d, part);
  });
}

template <class Act, class Mode>
void forward_token(const GateForward<float>& args, const Shape& shape, int64_t n) {
  const float* scores = args.scores + n * shape.heads * shape.width;
  float* mean = shape.shared ? args.mean + n * shape.width : nullptr;
  if (shape.shared) mean_over_heads<Act>(shape, scores, mean);
  for (int64_t h = 0; h < shape.heads; ++h) {
    const int64_t at = (n * shape.heads + h) * shape.head_dim;
    const float* x = args.x + at;
    float* y = args.y + at;
    if (!shape.shared) {
      gate_row<Act, Mode>({shape.head_dim, shape.headwise, scores + h * shape.width}, x, y);
    } else if (shape.headwise) {
      gate_channels<Mode>(shape.head_dim, x, y, [&](int64_t, auto) { return set(mean[0]); });
    } else {
      gate_channels<Mode>(shape.head_dim, x, y, [&](int64_t d, auto part) { return load(mean + d, part); });
    }
  }
}

GateRowGradient gradient_at(const GateBackward<float>& args, const Shape& shape, int64_t row) {
  const int64_t at = row * shape.head_dim;
  return {args.x + at, args.dy + at, args.dx + at, args.dscores + row * shape.width};
}

template <class Act, class Mode>
void backward_specific(const GateBackward<float>& args, const Shape& shape, int64_t n) {
  for (int64_t row = n * shape.heads; row < (n + 1) * shape.heads; ++row) {
    gate_row_backward<Act, Mode>({shape.head_dim, shape.headwise, args.scores + row * shape.width},
                                 gradient_at(args, shape, row));
  }
}

// The mean hands each head the gradient of the value, collected over all heads and divided by their number.
template <class Act, class Mode>
void backward_shared(const GateBackward<float>& args, const Shape& shape, int64_t n) {
  const float* mean = args.mean + n * shape.width;
  const int64_t first = n * shape.heads;
  const Vector share = set(1.0F / static_cast<float>(shape.heads));
  if (shape.headwise) {
    float total = 0.0F;
    for (int64_t row = first; row < first + shape.heads; ++row) {
      total += headwise_backward<Mode>(shape.head_dim, gradient_at(args, shape, row), set(mean[0]));
    }
    for_each_vector(first, first + shape.heads, [&](int64_t i, auto part) {
      const Vector slope = Act::with_slope(load(args.scores + i, part)).slope;
      store(hn::Mul(hn::Mul(set(total), share), slope), args.dscores + i, part);
    });
    return;
  }
  for_each_vector(0, shape.width, [&](int64_t d, auto part) {
    const Vector value = load(mean + d, part);
    const int64_t begin = first * shape.width + d;
    const int64_t end = begin + shape.heads * shape.width;
    Vector total = hn::Zero(tag);
    for (int64_t i = begin; i < end; i += shape.width) {
      const Vector dy = load(args.dy + i, part);
      total = hn::Add(total, Mode::dvalue(dy, load(args.x + i, part)));
      store(Mode::dx(dy, value), args.dx + i, part);
    }
    const Vector dvalue = hn::Mul(total, share);
    for (int64_t i = begin; i < end; i += shape.width) {
      store(hn::Mul(dvalue, Act::with_slope(load(args.scores + i, part)).slope), args.dscores + i, part);
    }
  });
}

void forward(const GateForward<float>& args, Range tokens) {
  const Shape shape = shape_of(args.shape);
  with_form(args.shape.form, [&]<class Act, class Mode>(Act, Mode) {
    for (int64_t n = tokens.begin; n < tokens.end; ++n) forward_token<Act, Mode>(args, shape, n);
  });
}

void backward(const GateBackward<float>& args, Range tokens) {
  const Shape shape = shape_of(args.shape);
  with_form(args.shape.form, [&]<class Act, class Mode>(Act, Mode) {
    for (int64_t n = tokens.begin; n < tokens.end; ++n) {
      shape.shared ? backward_shared<Act, Mode>(args, shape, n)
                   : backward_specific<Act, Mode>(args, shape, n);
    }
  });
}

template <class Act>
void values_of_token(const GateValues<float>& args, const Shape& shape, int64_t n) {
  const int64_t count = shape.heads * shape.width;
  const float* scores = args.scores + n * count;
  float* out = args.values + n * count;
  if (!shape.shared) {
    for_each_vector(0, count,
                    [&](int64_t i, auto part) { store(Act::value(load(scores + i, part)), out + i, part); });
    return;
  }
  mean_over_heads<Act>(shape, scores, out);
  for (int64_t h = 1; h < shape.heads; ++h) {
    std::memcpy(out + h * shape.width, out, static_cast<size_t>(shape.width) * sizeof(float));
  }
}

void values(const GateValues<float>& args, Range tokens) {
  const Shape shape = shape_of(args.shape);
  with_activation(args.shape.form.activation, [&]<class Act>(Act) {
    for (int64_t n = tokens.begin; n < tokens.end; ++n) values_of_token<Act>(args, shape, n);
  });
}

}  // namespace

void add_gate(Kernels<float>& table) {
  table.gate_forward = forward;
  table.gate_backward = backward;
  table.gate_values = values;
}

}  // namespace sluice::SLUICE_SIMD_NAMESPACE
