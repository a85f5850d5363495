// Blocks of queries of one head, and the matrix products between their panel of scores and the rows of a
// head. Shapes: N tokens, hd head_dim; a panel is [rows, keys], rows <= kQueryBlock.
#pragma once

#include "sluice/kernels/attention.h"
#include "sluice/kernels/blas/gemm.h"
#include "sluice/kernels/simd/lanes.h"

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

// One head of one sequence in a tensor [N, heads, hd]; `start` is the sequence's first token.
struct Head {
  int64_t start, index, heads, head_dim;
};

template <class T>
Rows<T> rows_of(T* tensor, const Head& head) {
  return {tensor + (head.start * head.heads + head.index) * head.head_dim, head.heads * head.head_dim};
}

// Queries first … first + rows of a sequence. The last of them sees the first `keys` keys.
struct Block {
  int64_t first, rows, keys, head_dim;
};

template <class Body>
void for_each_block(const AttentionShape& shape, int64_t length, const Body& body) {
  for (int64_t first = 0; first < length; first += kQueryBlock) {
    const int64_t left = length - first;
    const int64_t rows = left < kQueryBlock ? left : kQueryBlock;
    body(Block{first, rows, shape.past + first + rows, shape.head_dim});
  }
}

// panel[rows, keys] = a[rows, hd] · b[keys, hd]ᵀ
inline void score_product(const Block& block, ConstRows a, ConstRows b, float* panel) {
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
inline void panel_product(const Block& block, const float* panel, ConstRows b, MutableRows out) {
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
inline void add_transposed_product(const Block& block, const float* panel, ConstRows b, MutableRows out) {
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

}  // namespace
}  // namespace sluice::SLUICE_SIMD_NAMESPACE
