// Causal attention in blocks of queries, the products by OpenBLAS. Bounded by them: with head_dim 64 the
// softmax of a score costs a fifth of its multiply-adds. Shapes: N tokens, H query heads, K key/value heads,
// hd head_dim; a panel is [rows, keys], rows <= kQueryBlock.
#include <math.h>

#include "sluice/kernels/blas/gemm.h"
#include "sluice/kernels/simd/math.h"
#include "sluice/kernels/simd/register.h"

namespace sluice::SLUICE_SIMD_NAMESPACE {
namespace {

// Rows of one head: those of consecutive tokens lie `stride` apart.
template <class T>
struct Rows {
  T* data;
  int64_t stride;

  T* at(int64_t row) const { return data + row * stride; }
  Rows from(int64_t row) const { return {at(row), stride}; }
};
using ConstRows = Rows<const float>;
using MutableRows = Rows<float>;

// One head of one sequence in a tensor [N, heads, hd].
template <class T>
Rows<T> rows_of(T* tensor, int64_t start, int64_t head, int64_t heads, int64_t head_dim) {
  return {tensor + (start * heads + head) * head_dim, heads * head_dim};
}

// Queries first … first + rows of a sequence. They see the keys before first + rows.
struct Block {
  int64_t first, rows, keys, head_dim;
};

template <class Body>
void for_each_block(int64_t length, int64_t head_dim, const Body& body) {
  for (int64_t first = 0; first < length; first += kQueryBlock) {
    const int64_t left = length - first;
    const int64_t rows = left < kQueryBlock ? left : kQueryBlock;
    body(Block{first, rows, first + rows, head_dim});
  }
}

// panel[rows, keys] = a[rows, hd] · b[keys, hd]ᵀ
void score_product(const Block& block, ConstRows a, ConstRows b, float* panel) {
  blas::gemm({.m = block.rows,
              .n = block.keys,
              .k = block.head_dim,
              .a = a.data,
              .a_stride = a.stride,
              .b = b.data,
              .b_stride = b.stride,
              .b_transpose = Transpose::Yes,
              .c = panel,
              .c_stride = block.keys});
}

// out[rows, hd] = panel[rows, keys] · b[keys, hd]
void panel_product(const Block& block, const float* panel, ConstRows b, MutableRows out) {
  blas::gemm({.m = block.rows,
              .n = block.head_dim,
              .k = block.keys,
              .a = panel,
              .a_stride = block.keys,
              .b = b.data,
              .b_stride = b.stride,
              .c = out.data,
              .c_stride = out.stride});
}

// out[keys, hd] += panel[rows, keys]ᵀ · b[rows, hd]
void add_transposed_product(const Block& block, const float* panel, ConstRows b, MutableRows out) {
  blas::gemm({.m = block.keys,
              .n = block.head_dim,
              .k = block.rows,
              .a = panel,
              .a_stride = block.keys,
              .a_transpose = Transpose::Yes,
              .b = b.data,
              .b_stride = b.stride,
              .c = out.data,
              .c_stride = out.stride,
              .output = Output::Accumulate});
}

struct Softmax {
  float inverse_sum, log_sum_exp;
};

// row ← exp(scale · row - its maximum). What is left of the softmax is the factor inverse_sum.
Softmax softmax_row(float* row, int64_t n, float scale) {
  const Vector factor = set(scale);
  const float top = largest(n, [&](int64_t i, auto part) { return hn::Mul(factor, load(row + i, part)); });
  Vector total = hn::Zero(tag);
  for_each_vector(0, n, [&](int64_t i, auto part) {
    const Vector p = exp(hn::Sub(hn::Mul(factor, load(row + i, part)), set(top)));
    total = hn::Add(total, pad(p, 0.0F, part));
    store(p, row + i, part);
  });
  const float all = sum_of_lanes(total);
  return {1.0F / all, top + logf(all)};
}

void multiply(const float* x, float factor, int64_t n, float* y) {
  for_each_vector(0, n,
                  [&](int64_t i, auto part) { store(hn::Mul(load(x + i, part), set(factor)), y + i, part); });
}

void forward(const AttentionForward<float>& args, int64_t unit, float* workspace) {
  const auto& shape = args.shape;
  const int64_t hd = shape.head_dim;
  const int64_t sequence = unit / shape.heads;
  const int64_t head = unit % shape.heads;
  const int64_t kv_head = head / (shape.heads / shape.kv_heads);
  const int64_t start = shape.starts[sequence];
  const int64_t length = shape.starts[sequence + 1] - start;
  const ConstRows q = rows_of(args.q, start, head, shape.heads, hd);
  const ConstRows k = rows_of(args.k, start, kv_head, shape.kv_heads, hd);
  const ConstRows v = rows_of(args.v, start, kv_head, shape.kv_heads, hd);
  const MutableRows y = rows_of(args.y, start, head, shape.heads, hd);

  for_each_block(length, hd, [&](const Block& block) {
    float inverse_sums[kQueryBlock];
    score_product(block, q.from(block.first), k, workspace);
    for (int64_t r = 0; r < block.rows; ++r) {
      float* row = workspace + r * block.keys;
      const int64_t i = block.first + r;
      const Softmax softmax = softmax_row(row, i + 1, args.scale);
      clear(row + i + 1, block.keys - i - 1);
      inverse_sums[r] = softmax.inverse_sum;
      args.log_sum_exp[(start + i) * shape.heads + head] = softmax.log_sum_exp;
      if (args.probs != nullptr) {
        float* out = args.probs[sequence] + (head * length + i) * length;
        multiply(row, softmax.inverse_sum, i + 1, out);
        clear(out + i + 1, length - i - 1);
      }
    }
    panel_product(block, workspace, v, y.from(block.first));
    // Here instead of on the scores: hd products a row instead of `keys`.
    for (int64_t r = 0; r < block.rows; ++r) {
      float* out = y.at(block.first + r);
      multiply(out, inverse_sums[r], hd, out);
    }
  });
}

struct Gradient {
  float scale, log_sum_exp, delta;
};

// scores → p = exp(scale · score - log_sum_exp), dp → scale · p · (dp - delta)
void softmax_row_backward(float* scores, float* dp, int64_t n, const Gradient& row) {
  const Vector scale = set(row.scale);
  for_each_vector(0, n, [&](int64_t i, auto part) {
    const Vector p = exp(hn::Sub(hn::Mul(scale, load(scores + i, part)), set(row.log_sum_exp)));
    const Vector centred = hn::Sub(load(dp + i, part), set(row.delta));
    store(p, scores + i, part);
    store(hn::Mul(hn::Mul(scale, p), centred), dp + i, part);
  });
}

// With P = softmax(S) and delta_i = dy_i · y_i:  dV += Pᵀ dy,  dS = P ∘ (dy Vᵀ - delta),  dQ = dS K,  dK +=
// dSᵀ Q.
void backward_head(const AttentionBackward<float>& args, int64_t sequence, int64_t head, float* workspace) {
  const auto& shape = args.shape;
  const int64_t hd = shape.head_dim;
  const int64_t kv_head = head / (shape.heads / shape.kv_heads);
  const int64_t start = shape.starts[sequence];
  const int64_t length = shape.starts[sequence + 1] - start;
  const ConstRows q = rows_of(args.q, start, head, shape.heads, hd);
  const ConstRows k = rows_of(args.k, start, kv_head, shape.kv_heads, hd);
  const ConstRows v = rows_of(args.v, start, kv_head, shape.kv_heads, hd);
  const ConstRows y = rows_of(args.y, start, head, shape.heads, hd);
  const ConstRows dy = rows_of(args.dy, start, head, shape.heads, hd);
  const MutableRows dq = rows_of(args.dq, start, head, shape.heads, hd);
  const MutableRows dk = rows_of(args.dk, start, kv_head, shape.kv_heads, hd);
  const MutableRows dv = rows_of(args.dv, start, kv_head, shape.kv_heads, hd);

  for_each_block(length, hd, [&](const Block& block) {
    float* p = workspace;
    float* ds = workspace + kQueryBlock * shape.longest;
    score_product(block, q.from(block.first), k, p);
    score_product(block, dy.from(block.first), v, ds);
    for (int64_t r = 0; r < block.rows; ++r) {
      const int64_t i = block.first + r;
      const Gradient row = {args.scale, args.log_sum_exp[(start + i) * shape.heads + head],
                            dot(dy.at(i), y.at(i), hd)};
      softmax_row_backward(p + r * block.keys, ds + r * block.keys, i + 1, row);
      clear(p + r * block.keys + i + 1, block.keys - i - 1);
      clear(ds + r * block.keys + i + 1, block.keys - i - 1);
    }
    add_transposed_product(block, p, dy.from(block.first), dv);
    add_transposed_product(block, ds, q.from(block.first), dk);
    panel_product(block, ds, k, dq.from(block.first));
  });
}

void backward(const AttentionBackward<float>& args, int64_t unit, float* workspace) {
  const auto& shape = args.shape;
  const int64_t group = shape.heads / shape.kv_heads;
  const int64_t sequence = unit / shape.kv_heads;
  const int64_t kv_head = unit % shape.kv_heads;
  for (int64_t token = shape.starts[sequence]; token < shape.starts[sequence + 1]; ++token) {
    const int64_t at = (token * shape.kv_heads + kv_head) * shape.head_dim;
    clear(args.dk + at, shape.head_dim);
    clear(args.dv + at, shape.head_dim);
  }
  for (int64_t g = 0; g < group; ++g) backward_head(args, sequence, kv_head * group + g, workspace);
}

}  // namespace

void add_attention(Kernels<float>& table) {
  table.attention_forward = forward;
  table.attention_backward = backward;
}

}  // namespace sluice::SLUICE_SIMD_NAMESPACE
