// Causal grouped-query attention over sequences that lie one after another in the token axis.
// Shapes: N tokens of all sequences, H query heads, K key/value heads (H = K · group), hd head_dim.
#pragma once

#include <cstdint>

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

// One call handles one head of one sequence: unit = sequence · H + head.
template <class T>
struct AttentionForward {
  AttentionShape shape = {};
  T scale = 1;
  const T* q = nullptr;       // [N, H, hd]
  const T* k = nullptr;       // [past + N, K, hd]
  const T* v = nullptr;       // [past + N, K, hd]
  T* y = nullptr;             // [N, H, hd]
  T* log_sum_exp = nullptr;   // [N, H], kept for the gradient
  T* const* probs = nullptr;  // per sequence [H, T, past + T] with zeros after the query's own key, or none
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
  const T* dy = nullptr;
  T* dq = nullptr;  // all three overwritten
  T* dk = nullptr;
  T* dv = nullptr;
};

// Queries handled together: rows of the score panel that a call keeps in its workspace.
// 64 rows × 4096 keys in f32 are 1 MiB, about the L2 cache of one core.
inline constexpr int64_t kQueryBlock = 64;

// Elements of workspace that one call needs: two panels of scores.
inline int64_t attention_workspace(const AttentionShape& shape) {
  return 2 * kQueryBlock * shape.longest;
}

}  // namespace sluice
