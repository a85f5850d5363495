// Causal grouped-query attention over sequences that lie one after another in the token axis.
// Shapes: N tokens of all sequences, H query heads, K key/value heads (H = K · group), hd head_dim.
#pragma once

#include <cstdint>

#include "sluice/kernels/gate.h"

namespace sluice {

struct AttentionShape {
  const int64_t* starts = nullptr;  // [sequences + 1]: tokens of sequence s are starts[s] … starts[s + 1]
  int64_t sequences = 0;
  int64_t longest = 0;  // keys of the longest sequence
  // Keys that stand before the first query, as in a key/value cache: query i sees keys 0 … past + i. Only
  // with one sequence, and not in the gradient.
  int64_t past = 0;
  int64_t heads = 0, kv_heads = 0, head_dim = 0;
};

// A gate on the result, applied while it is written. Its scores must not be shared between heads: a head is
// finished before others are.
template <class T>
struct AttentionGate {
  GateForm form = {};
  const T* scores = nullptr;  // [N, H, hd or 1]; none: no gate
};

// One call handles `heads_per_unit` query heads of one sequence, which look at the same keys and values and
// share what is made of them: unit = sequence · H / heads_per_unit + part. Results do not depend on it.
template <class T>
struct AttentionForward {
  AttentionShape shape = {};
  int64_t heads_per_unit = 1;  // divides H / K
  T scale = 1;
  const T* q = nullptr;  // [N, H, hd]
  const T* k = nullptr;  // [past + N, K, hd]
  const T* v = nullptr;  // [past + N, K, hd]
  T* y = nullptr;        // [N, H, hd]; not needed if there is a gate
  AttentionGate<T> gate = {};
  T* gated = nullptr;         // [N, H, hd], y with the gate
  T* log_sum_exp = nullptr;   // [N, H], kept for the gradient
  T* const* probs = nullptr;  // per sequence [H, T, past + T] with zeros after the query's own key, or none
  // What is often all that is wanted of the probabilities, without storing them; either may be none.
  T* sink = nullptr;     // [N, H], the probability on the first key
  T* entropy = nullptr;  // [N, H], -Σ p log p over the keys
};

// One call handles one key/value head of one sequence with all its query heads: unit = sequence · K + head.
template <class T>
struct AttentionBackward {
  AttentionShape shape = {};
  T scale = 1;
  const T* q = nullptr;
  const T* k = nullptr;
  const T* v = nullptr;
  const T* y = nullptr;
  const T* log_sum_exp = nullptr;
  const T* dy = nullptr;  // of the gated result if there is a gate
  AttentionGate<T> gate = {};
  T* dq = nullptr;  // all overwritten
  T* dk = nullptr;
  T* dv = nullptr;
  T* dscores = nullptr;  // of the gate
};

// Below it, making copies of keys and values costs more than they save: a decoding step has one query.
inline constexpr int64_t kFewQueries = 8;

// Scores exist for so many queries and keys at once: 78 KiB in f32, which stay in a second-level cache. Both
// are multiples of the rows and columns of sums that any instruction set keeps in registers.
inline constexpr int64_t kQueryBlock = 96;
inline constexpr int64_t kKeyBlock = 192;

// Elements from one row to the next in a workspace: room for whole vectors, and an odd number of cache lines,
// since rows a multiple of 4 KiB apart would share one set of the first cache.
inline constexpr int64_t kScoreStride = kKeyBlock + 16;

// Static, as the linker could otherwise keep the copy of an instruction set that this CPU lacks.
static inline int64_t attention_row_stride(const AttentionShape& shape) {
  return (shape.head_dim + 31) / 32 * 32 + 16;
}

// Rows for all keys of a sequence: whole groups, be they rows of sums (6 or 12) or columns (16 or 32).
static inline int64_t attention_key_rows(const AttentionShape& shape) {
  return (shape.longest + 95) / 96 * 96;
}

// Elements of workspace that one call needs: keys and values as the products like them, queries, results and
// scores of a block.
static inline int64_t attention_forward_workspace(const AttentionShape& shape) {
  const int64_t stride = attention_row_stride(shape);
  return attention_key_rows(shape) * (shape.head_dim + stride) + 2 * kQueryBlock * stride +
         kQueryBlock * kScoreStride;
}

// The same with keys in both ways, gradients of keys and values, and two kinds of scores.
static inline int64_t attention_backward_workspace(const AttentionShape& shape) {
  const int64_t stride = attention_row_stride(shape);
  return attention_key_rows(shape) * (2 * shape.head_dim + 3 * stride) + 3 * kQueryBlock * stride +
         2 * kQueryBlock * kScoreStride;
}

}  // namespace sluice
