// Rows of one attention head, and copies of them in which the products find their operands.
#pragma once

#include "sluice/kernels/attention.h"
#include "sluice/kernels/simd/register_product.h"

namespace sluice::SLUICE_SIMD_NAMESPACE {
namespace {

// One head of one sequence in a tensor [N, heads, hd]; `start` is the sequence's first token.
struct Head {
  int64_t start, index, heads, head_dim;
};

template <class T>
Rows<T> rows_of(T* tensor, const Head& head) {
  return {tensor + (head.start * head.heads + head.index) * head.head_dim, head.heads * head.head_dim};
}

// One query head of one sequence, and the key/value head that it looks at.
struct HeadPair {
  int64_t start, length;  // of the sequence
  Head query, key;
};

inline HeadPair head_pair(const AttentionShape& shape, int64_t sequence, int64_t head) {
  const int64_t start = shape.starts[sequence];
  const int64_t kv_head = head / (shape.heads / shape.kv_heads);
  return {.start = start,
          .length = shape.starts[sequence + 1] - start,
          .query = {start, head, shape.heads, shape.head_dim},
          .key = {start, kv_head, shape.kv_heads, shape.head_dim}};
}

// Hands out a workspace piece by piece.
struct Workspace {
  float* next;
  int64_t stride;  // of rows

  float* take(int64_t count) {
    float* piece = next;
    next += count;
    return piece;
  }
  MutableRows take_rows(int64_t count) { return {take(count * stride), stride}; }
};

inline void clear_rows(MutableRows rows, int64_t begin, int64_t end) {
  for (int64_t r = begin; r < end; ++r) clear(rows.at(r), rows.stride);
}

// Zeros behind the last column.
inline void copy_rows(ConstRows from, int64_t count, int64_t head_dim, MutableRows to) {
  for (int64_t r = 0; r < count; ++r) {
    std::memcpy(to.at(r), from.at(r), static_cast<size_t>(head_dim) * sizeof(float));
    clear(to.at(r) + head_dim, to.stride - head_dim);
  }
}

// Zeros where an element is not finite, too.
inline void copy_finite_rows(ConstRows from, int64_t count, int64_t head_dim, MutableRows to) {
  copy_rows(from, count, head_dim, to);
  for (int64_t r = 0; r < count; ++r) {
    for (int64_t i = 0; i < to.stride; i += kLanes) {
      const Vector x = load(to.at(r) + i, Full{});
      store(hn::IfThenElseZero(hn::Eq(hn::Sub(x, x), hn::Zero(tag)), x), to.at(r) + i, Full{});
    }
  }
}

}  // namespace
}  // namespace sluice::SLUICE_SIMD_NAMESPACE
