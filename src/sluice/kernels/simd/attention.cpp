// Causal attention in blocks of queries, the products by OpenBLAS, which bound it.
// Shapes: N tokens, H query heads, K key/value heads, hd head_dim.
#include <math.h>  // not cmath: std::log(float) is inline, see register.h

#include "sluice/kernels/simd/math.h"
#include "sluice/kernels/simd/panel.h"
#include "sluice/kernels/simd/register.h"

namespace sluice::SLUICE_SIMD_NAMESPACE {
namespace {

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

// One query head of one sequence, and the key/value head that it looks at.
struct Pair {
  int64_t start, length;  // of the sequence
  Head query, key;
};

Pair pair_of(const AttentionShape& shape, int64_t sequence, int64_t head) {
  const int64_t start = shape.starts[sequence];
  const int64_t kv_head = head / (shape.heads / shape.kv_heads);
  return {.start = start,
          .length = shape.starts[sequence + 1] - start,
          .query = {start, head, shape.heads, shape.head_dim},
          .key = {start, kv_head, shape.kv_heads, shape.head_dim}};
}

void forward(const AttentionForward<float>& args, int64_t unit, float* workspace) {
  const auto& shape = args.shape;
  const int64_t hd = shape.head_dim;
  const int64_t sequence = unit / shape.heads;
  const int64_t head = unit % shape.heads;
  const Pair at = pair_of(shape, sequence, head);
  const ConstRows q = rows_of(args.q, at.query);
  const ConstRows k = rows_of(args.k, at.key);
  const ConstRows v = rows_of(args.v, at.key);
  const MutableRows y = rows_of(args.y, at.query);

  for_each_block(shape, at.length, [&](const Block& block) {
    float inverse_sums[kQueryBlock];
    score_product(block, q.from(block.first), k, workspace);
    for (int64_t r = 0; r < block.rows; ++r) {
      float* row = workspace + r * block.keys;
      const int64_t i = block.first + r;
      const int64_t seen = shape.past + i + 1;
      const Softmax softmax = softmax_row(row, seen, args.scale);
      clear(row + seen, block.keys - seen);
      inverse_sums[r] = softmax.inverse_sum;
      args.log_sum_exp[(at.start + i) * shape.heads + head] = softmax.log_sum_exp;
      if (args.probs != nullptr) {
        const int64_t keys = shape.past + at.length;
        float* out = args.probs[sequence] + (head * at.length + i) * keys;
        multiply(row, softmax.inverse_sum, seen, out);
        clear(out + seen, keys - seen);
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
  const Pair at = pair_of(shape, sequence, head);
  const ConstRows q = rows_of(args.q, at.query);
  const ConstRows k = rows_of(args.k, at.key);
  const ConstRows v = rows_of(args.v, at.key);
  const ConstRows y = rows_of(args.y, at.query);
  const ConstRows dy = rows_of(args.dy, at.query);
  const MutableRows dq = rows_of(args.dq, at.query);
  const MutableRows dk = rows_of(args.dk, at.key);
  const MutableRows dv = rows_of(args.dv, at.key);

  for_each_block(shape, at.length, [&](const Block& block) {
    float* p = workspace;
    float* ds = workspace + kQueryBlock * shape.longest;
    score_product(block, q.from(block.first), k, p);
    score_product(block, dy.from(block.first), v, ds);
    for (int64_t r = 0; r < block.rows; ++r) {
      const int64_t i = block.first + r;
      const Gradient row = {args.scale, args.log_sum_exp[(at.start + i) * shape.heads + head],
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
