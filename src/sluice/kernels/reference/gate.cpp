#include "sluice/kernels/reference/math.h"
#include "sluice/kernels/reference/register.h"

namespace sluice::reference {
namespace {

// Index arithmetic of one token's scores: head h, channel d.
int64_t score_at(const GateShape& shape, int64_t h, int64_t d) {
  return shape.form.granularity == Granularity::Headwise ? h : h * shape.head_dim + d;
}

template <class T>
void mean_over_heads(const GateShape& shape, const T* scores, T* mean) {
  const int64_t width = shape.score_width();
  for (int64_t d = 0; d < width; ++d) {
    T sum = 0;
    for (int64_t h = 0; h < shape.heads; ++h) sum += activate(shape.form.activation, scores[h * width + d]);
    mean[d] = sum / static_cast<T>(shape.heads);
  }
}

// What the gate applies to channel d of head h. There is a mean if the gate is shared.
template <class T>
T value_at(const GateShape& shape, const T* scores, const T* mean, int64_t h, int64_t d) {
  if (mean != nullptr) return mean[score_at(shape, 0, d)];
  return activate(shape.form.activation, scores[score_at(shape, h, d)]);
}

template <class T>
void forward(const GateForward<T>& args, Range tokens) {
  const auto& [heads, head_dim, form] = args.shape;
  const int64_t width = args.shape.score_width();
  for (int64_t n = tokens.begin; n < tokens.end; ++n) {
    const T* scores = args.scores + n * heads * width;
    T* mean = form.sharing == Sharing::Shared ? args.mean + n * width : nullptr;
    if (mean != nullptr) mean_over_heads(args.shape, scores, mean);
    for (int64_t h = 0; h < heads; ++h) {
      for (int64_t d = 0; d < head_dim; ++d) {
        const int64_t at = (n * heads + h) * head_dim + d;
        const T a = value_at(args.shape, scores, mean, h, d);
        args.y[at] = form.mode == GateMode::Multiply ? args.x[at] * a : args.x[at] + a;
      }
    }
  }
}

template <class T>
void backward(const GateBackward<T>& args, Range tokens) {
  const auto& [heads, head_dim, form] = args.shape;
  const int64_t width = args.shape.score_width();
  for (int64_t n = tokens.begin; n < tokens.end; ++n) {
    const T* scores = args.scores + n * heads * width;
    const T* mean = form.sharing == Sharing::Shared ? args.mean + n * width : nullptr;
    T* dscores = args.dscores + n * heads * width;
    std::fill(dscores, dscores + heads * width, T(0));
    for (int64_t h = 0; h < heads; ++h) {
      for (int64_t d = 0; d < head_dim; ++d) {
        const int64_t at = (n * heads + h) * head_dim + d;
        const bool multiply = form.mode == GateMode::Multiply;
        args.dx[at] = multiply ? args.dy[at] * value_at(args.shape, scores, mean, h, d) : args.dy[at];
        // Gradient of the value; a shared value collects those of all heads in the place of head 0.
        const int64_t owner = form.sharing == Sharing::Shared ? 0 : h;
        dscores[score_at(args.shape, owner, d)] += multiply ? args.dy[at] * args.x[at] : args.dy[at];
      }
    }
    const T share = form.sharing == Sharing::Shared ? 1 / static_cast<T>(heads) : T(1);
    for (int64_t h = heads - 1; h >= 0; --h) {  // head 0 last: the others still read it
      for (int64_t d = 0; d < width; ++d) {
        const T dvalue = dscores[form.sharing == Sharing::Shared ? d : h * width + d];
        dscores[h * width + d] = dvalue * share * slope(form.activation, scores[h * width + d]);
      }
    }
  }
}

template <class T>
void values(const GateValues<T>& args, Range tokens) {
  const auto& [heads, head_dim, form] = args.shape;
  const int64_t width = args.shape.score_width();
  for (int64_t n = tokens.begin; n < tokens.end; ++n) {
    const T* scores = args.scores + n * heads * width;
    T* out = args.values + n * heads * width;
    if (form.sharing == Sharing::Shared) {
      mean_over_heads(args.shape, scores, out);
      for (int64_t h = 1; h < heads; ++h) std::copy(out, out + width, out + h * width);
    } else {
      for (int64_t i = 0; i < heads * width; ++i) out[i] = activate(form.activation, scores[i]);
    }
  }
}

}  // namespace

template <class T>
void add_gate(Kernels<T>& table) {
  table.gate_forward = forward<T>;
  table.gate_backward = backward<T>;
  table.gate_values = values<T>;
}

template void add_gate(Kernels<float>&);
template void add_gate(Kernels<double>&);

}  // namespace sluice::reference
