#include <algorithm>
#include <cmath>

#include "sluice/kernels/reference/register.h"

namespace sluice::reference {
namespace {

template <class T>
T dot(const T* a, const T* b, int64_t n) {
  T sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

// Scores of query `i` against the keys that it sees.
template <class Args, class T>
void score_row(const Args& args, int64_t start, int64_t head, int64_t i, T* scores) {
  const auto& shape = args.shape;
  const int64_t kv_head = head / (shape.heads / shape.kv_heads);
  const T* q = args.q + ((start + i) * shape.heads + head) * shape.head_dim;
  for (int64_t j = 0; j <= shape.past + i; ++j) {
    const T* k = args.k + ((start + j) * shape.kv_heads + kv_head) * shape.head_dim;
    scores[j] = args.scale * dot(q, k, shape.head_dim);
  }
}

// Where p is 0 its logarithm does not matter.
template <class T>
T entropy_of(const T* p, int64_t n) {
  T sum = 0;
  for (int64_t i = 0; i < n; ++i) sum -= p[i] > 0 ? p[i] * std::log(p[i]) : T(0);
  return sum;
}

template <class T>
void forward(const AttentionForward<T>& args, int64_t unit, T* workspace) {
  const auto& shape = args.shape;
  const int64_t sequence = unit / shape.heads;
  const int64_t head = unit % shape.heads;
  const int64_t kv_head = head / (shape.heads / shape.kv_heads);
  const int64_t start = args.shape.starts[sequence];
  const int64_t length = shape.starts[sequence + 1] - start;
  for (int64_t i = 0; i < length; ++i) {
    const int64_t keys = shape.past + i + 1;
    T* p = workspace;
    score_row(args, start, head, i, p);
    const T largest = *std::max_element(p, p + keys);
    T sum = 0;
    for (int64_t j = 0; j < keys; ++j) sum += p[j] = std::exp(p[j] - largest);
    for (int64_t j = 0; j < keys; ++j) p[j] /= sum;
    const int64_t row = (start + i) * shape.heads + head;
    args.log_sum_exp[row] = largest + std::log(sum);
    if (args.sink != nullptr) args.sink[row] = p[0];
    if (args.entropy != nullptr) args.entropy[row] = entropy_of(p, keys);
    T* y = args.y + row * shape.head_dim;
    std::fill(y, y + shape.head_dim, T(0));
    for (int64_t j = 0; j < keys; ++j) {
      const T* v = args.v + ((start + j) * shape.kv_heads + kv_head) * shape.head_dim;
      for (int64_t d = 0; d < shape.head_dim; ++d) y[d] += p[j] * v[d];
    }
    if (args.probs != nullptr) {
      T* out = args.probs[sequence] + (head * length + i) * (shape.past + length);
      std::copy(p, p + keys, out);
      std::fill(out + keys, out + shape.past + length, T(0));
    }
  }
}

// With P = softmax(S) and D_i = dy_i · y_i:  dV += Pᵀ dy,  dS = P ∘ (dy Vᵀ - D),  dQ = dS K,  dK += dSᵀ Q.
template <class T>
void backward_head(const AttentionBackward<T>& args, int64_t start, int64_t length, int64_t head,
                   T* workspace) {
  const auto& shape = args.shape;
  const int64_t hd = shape.head_dim;
  const int64_t kv_head = head / (shape.heads / shape.kv_heads);
  for (int64_t i = 0; i < length; ++i) {
    const int64_t row = (start + i) * shape.heads + head;
    const T* dy = args.dy + row * hd;
    const T delta = dot(dy, args.y + row * hd, hd);
    T* scores = workspace;
    score_row(args, start, head, i, scores);
    for (int64_t j = 0; j <= i; ++j) {
      const int64_t kv_row = ((start + j) * shape.kv_heads + kv_head) * hd;
      const T p = std::exp(scores[j] - args.log_sum_exp[row]);
      const T ds = args.scale * p * (dot(dy, args.v + kv_row, hd) - delta);
      for (int64_t d = 0; d < hd; ++d) {
        args.dv[kv_row + d] += p * dy[d];
        args.dk[kv_row + d] += ds * args.q[row * hd + d];
        args.dq[row * hd + d] += ds * args.k[kv_row + d];
      }
    }
  }
}

template <class T>
void backward(const AttentionBackward<T>& args, int64_t unit, T* workspace) {
  const auto& shape = args.shape;
  const int64_t group = shape.heads / shape.kv_heads;
  const int64_t sequence = unit / shape.kv_heads;
  const int64_t kv_head = unit % shape.kv_heads;
  const int64_t start = shape.starts[sequence];
  const int64_t length = shape.starts[sequence + 1] - start;
  for (int64_t i = start; i < start + length; ++i) {
    const int64_t kv_row = (i * shape.kv_heads + kv_head) * shape.head_dim;
    std::fill_n(args.dk + kv_row, shape.head_dim, T(0));
    std::fill_n(args.dv + kv_row, shape.head_dim, T(0));
    std::fill_n(args.dq + (i * shape.heads + kv_head * group) * shape.head_dim, group * shape.head_dim, T(0));
  }
  for (int64_t g = 0; g < group; ++g) backward_head(args, start, length, kv_head * group + g, workspace);
}

}  // namespace

template <class T>
void add_attention(Kernels<T>& table) {
  table.attention_forward = forward<T>;
  table.attention_backward = backward<T>;
}

template void add_attention(Kernels<float>&);
template void add_attention(Kernels<double>&);

}  // namespace sluice::reference
