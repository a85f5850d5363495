#include <algorithm>
#include <cmath>

#include "sluice/kernels/reference/math.h"
#include "sluice/kernels/reference/register.h"

namespace sluice::reference {
namespace {

// What the products see of their operands.
enum class Operands { AsTheyAre, Bf16 };

template <Operands kind, class T>
T seen(T x) {
  if constexpr (kind == Operands::AsTheyAre) return x;
  return to_float(to_bf16(static_cast<float>(x)));
}

template <Operands kind, class T>
T dot(const T* a, const T* b, int64_t n) {
  T sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += seen<kind>(a[i]) * seen<kind>(b[i]);
  return sum;
}

// One query head of one sequence.
struct HeadAt {
  int64_t sequence, head, kv_head;
  int64_t start, length;
};

HeadAt head_at(const AttentionShape& shape, int64_t sequence, int64_t head) {
  const int64_t start = shape.starts[sequence];
  return {sequence, head, head / (shape.heads / shape.kv_heads), start, shape.starts[sequence + 1] - start};
}

// Scores of query `i` against the keys that it sees.
template <Operands kind, class Args, class T>
void score_row(const Args& args, const HeadAt& at, int64_t i, T* scores) {
  const auto& shape = args.shape;
  const T* q = args.q + ((at.start + i) * shape.heads + at.head) * shape.head_dim;
  for (int64_t j = 0; j <= shape.past + i; ++j) {
    const T* k = args.k + ((at.start + j) * shape.kv_heads + at.kv_head) * shape.head_dim;
    scores[j] = args.scale * dot<kind>(q, k, shape.head_dim);
  }
}

// Where p is 0 its logarithm does not matter.
template <class T>
T entropy_of(const T* p, int64_t n) {
  T sum = 0;
  for (int64_t i = 0; i < n; ++i) sum -= p[i] > 0 ? p[i] * std::log(p[i]) : T(0);
  return sum;
}

// The score that gates channel d of a row.
template <class Args>
int64_t score_at(const Args& args, int64_t row, int64_t d) {
  return args.gate.form.granularity == Granularity::Headwise ? row : row * args.shape.head_dim + d;
}

template <class T>
void write_result(const AttentionForward<T>& args, int64_t row, int64_t d, T y) {
  const int64_t at = row * args.shape.head_dim + d;
  if (args.y != nullptr) args.y[at] = y;
  if (args.gate.scores == nullptr) return;
  const T value = activate(args.gate.form.activation, args.gate.scores[score_at(args, row, d)]);
  args.gated[at] = args.gate.form.mode == GateMode::Multiply ? y * value : y + value;
}

template <Operands kind, class T>
void forward_head(const AttentionForward<T>& args, const HeadAt& at, T* workspace) {
  const auto& shape = args.shape;
  for (int64_t i = 0; i < at.length; ++i) {
    const int64_t keys = shape.past + i + 1;
    const int64_t row = (at.start + i) * shape.heads + at.head;
    T* p = workspace;
    score_row<kind>(args, at, i, p);
    const T largest = *std::max_element(p, p + keys);
    T sum = 0;
    for (int64_t j = 0; j < keys; ++j) sum += p[j] = std::exp(p[j] - largest);
    for (int64_t d = 0; d < shape.head_dim; ++d) {
      T total = 0;
      for (int64_t j = 0; j < keys; ++j) {
        const int64_t kv_row = (at.start + j) * shape.kv_heads + at.kv_head;
        total += seen<kind>(p[j]) * seen<kind>(args.v[kv_row * shape.head_dim + d]);
      }
      write_result(args, row, d, total / sum);
    }
    for (int64_t j = 0; j < keys; ++j) p[j] /= sum;
    args.log_sum_exp[row] = largest + std::log(sum);
    if (args.sink != nullptr) args.sink[row] = p[0];
    if (args.entropy != nullptr) args.entropy[row] = entropy_of(p, keys);
    if (args.probs != nullptr) {
      T* out = args.probs[at.sequence] + (at.head * at.length + i) * (shape.past + at.length);
      std::copy(p, p + keys, out);
      std::fill(out + keys, out + shape.past + at.length, T(0));
    }
  }
}

template <Operands kind, class T>
void forward(const AttentionForward<T>& args, int64_t unit, T* workspace) {
  const int64_t parts = args.shape.heads / args.heads_per_unit;
  const int64_t first = unit % parts * args.heads_per_unit;
  for (int64_t head = first; head < first + args.heads_per_unit; ++head) {
    const HeadAt at = head_at(args.shape, unit / parts, head);
    at.length < kFewQueries ? forward_head<Operands::AsTheyAre>(args, at, workspace)
                            : forward_head<kind>(args, at, workspace);
  }
}

// dy of row `row` before the gate, into `dy`; the gradient of the gate's scores on the way.
template <class T>
void gate_backward(const AttentionBackward<T>& args, int64_t row, T* dy) {
  const int64_t hd = args.shape.head_dim;
  const T* gated = args.dy + row * hd;
  std::copy_n(gated, hd, dy);
  if (args.gate.scores == nullptr) return;
  const bool multiply = args.gate.form.mode == GateMode::Multiply;
  const Activation activation = args.gate.form.activation;
  const int64_t width = args.gate.form.granularity == Granularity::Headwise ? 1 : hd;
  for (int64_t d = 0; d < hd; ++d) {
    const int64_t at = score_at(args, row, d);
    const T score = args.gate.scores[at];
    const T dvalue = multiply ? gated[d] * args.y[row * hd + d] : gated[d];
    args.dscores[at] = d == 0 || width == hd ? dvalue : args.dscores[at] + dvalue;
    if (multiply) dy[d] = gated[d] * activate(activation, score);
  }
  for (int64_t at = row * width; at < (row + 1) * width; ++at)
    args.dscores[at] *= slope(activation, args.gate.scores[at]);
}

// With P = softmax(S) and D_i = dy_i · y_i:  dV += Pᵀ dy,  dS = P ∘ (dy Vᵀ - D),  dQ = dS K,  dK += dSᵀ Q.
template <Operands kind, class T>
void backward_head(const AttentionBackward<T>& args, const HeadAt& at, T* workspace) {
  const auto& shape = args.shape;
  const int64_t hd = shape.head_dim;
  T* dy = workspace;
  T* scores = workspace + hd;
  for (int64_t i = 0; i < at.length; ++i) {
    const int64_t row = (at.start + i) * shape.heads + at.head;
    gate_backward(args, row, dy);
    T delta = 0;
    for (int64_t d = 0; d < hd; ++d) delta += seen<kind>(dy[d]) * args.y[row * hd + d];
    score_row<kind>(args, at, i, scores);
    for (int64_t j = 0; j <= i; ++j) {
      const int64_t kv_row = ((at.start + j) * shape.kv_heads + at.kv_head) * hd;
      const T p = std::exp(scores[j] - args.log_sum_exp[row]);
      const T ds = args.scale * seen<kind>(p * (dot<kind>(dy, args.v + kv_row, hd) - delta));
      for (int64_t d = 0; d < hd; ++d) {
        args.dv[kv_row + d] += seen<kind>(p) * seen<kind>(dy[d]);
        args.dk[kv_row + d] += ds * seen<kind>(args.q[row * hd + d]);
        args.dq[row * hd + d] += ds * seen<kind>(args.k[kv_row + d]);
      }
    }
  }
}

template <Operands kind, class T>
void backward(const AttentionBackward<T>& args, int64_t unit, T* workspace) {
  const auto& shape = args.shape;
  const int64_t group = shape.heads / shape.kv_heads;
  const int64_t sequence = unit / shape.kv_heads;
  const int64_t kv_head = unit % shape.kv_heads;
  for (int64_t i = shape.starts[sequence]; i < shape.starts[sequence + 1]; ++i) {
    const int64_t kv_row = (i * shape.kv_heads + kv_head) * shape.head_dim;
    std::fill_n(args.dk + kv_row, shape.head_dim, T(0));
    std::fill_n(args.dv + kv_row, shape.head_dim, T(0));
    std::fill_n(args.dq + (i * shape.heads + kv_head * group) * shape.head_dim, group * shape.head_dim, T(0));
  }
  for (int64_t head = kv_head * group; head < (kv_head + 1) * group; ++head) {
    const HeadAt at = head_at(shape, sequence, head);
    at.length < kFewQueries ? backward_head<Operands::AsTheyAre>(args, at, workspace)
                            : backward_head<kind>(args, at, workspace);
  }
}

}  // namespace

template <class T>
void add_attention(Kernels<T>& table) {
  table.attention_forward = forward<Operands::AsTheyAre, T>;
  table.attention_backward = backward<Operands::AsTheyAre, T>;
  table.attention_forward_bf16 = forward<Operands::Bf16, T>;
  table.attention_backward_bf16 = backward<Operands::Bf16, T>;
}

template void add_attention(Kernels<float>&);
template void add_attention(Kernels<double>&);

}  // namespace sluice::reference
