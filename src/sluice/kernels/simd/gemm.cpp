// Bounded by multiply-adds. Both operands are packed, so that strides cannot make cache lines collide. Every
// sum runs over the depth in order: an element has the same bits wherever its block was cut.
#include "sluice/kernels/gemm.h"

#include "sluice/kernels/simd/register.h"
#include "sluice/kernels/simd/register_product.h"
#include "sluice/kernels/simd/transpose_words.h"

namespace sluice::SLUICE_SIMD_NAMESPACE {
namespace {

// A group of A's rows and a panel of B share the first-level cache: 12 + 32 KiB with AVX-512, where 48 KiB
// are usual (some have 32: the panel then comes from the second), 6 + 16 with AVX2.
constexpr int64_t kDepth = 256;
// Blocks of either operand, a quarter of a MiB, stay in the second-level cache. The rows are the 256 that
// callers cut their products to (ops/matmul.cpp), rounded up to whole groups of 12 and of 6.
constexpr int64_t kColumns = 256;
constexpr int64_t kBlockRows = 264;
static_assert(kBlockRows % kRows == 0 && kColumns % kCols == 0);
// Rows of a group: an odd number of cache lines apart.
constexpr int64_t kStride = kDepth + 16;

struct Buffers {
  alignas(
      64) float a[kBlockRows * kStride];   // groups [kRows, kStride], or [kStride, kRows] if A is transposed
  alignas(64) float b[kDepth * kColumns];  // panels [depth, kCols]
  alignas(64) float c[kRows * kCols];      // sums of which not all exist in C
};

int64_t at_most(int64_t count, int64_t limit) {
  return count < limit ? count : limit;
}

// A part of the product: rows `row` …, columns `col` …, summands `from` … .
struct Part {
  int64_t row, rows;
  int64_t col, cols;
  int64_t from, depth;
};

void copy(const float* from, int64_t count, float* to) {
  for_each_vector(0, count, [&](int64_t i, auto lanes) { store(load(from + i, lanes), to + i, lanes); });
}

void copy_a(const Gemm<float>& g, const Part& part, float* to) {
  for (int64_t r = 0; r < part.rows; ++r)
    copy(g.a + (part.row + r) * g.a_stride + part.from, part.depth, to + r * kStride);
}

// A transposed A, row by row of what is stored: by groups, a power of two as stride would leave few cache
// lines.
void copy_turned_a(const Gemm<float>& g, const Part& part, float* to) {
  for (int64_t p = 0; p < part.depth; ++p) {
    const float* from = g.a + (part.from + p) * g.a_stride + part.row;
    for (int64_t r = 0; r < part.rows; r += kRows)
      copy(from + r, at_most(part.rows - r, kRows), to + r * kStride + p * kRows);
  }
}

void pack_a(const Gemm<float>& g, const Part& part, float* to) {
  const int64_t last = part.rows / kRows * kRows;
  if (last < part.rows) clear(to + last * kStride, kRows * kStride);
  (g.a_transpose == Transpose::Yes ? copy_turned_a : copy_a)(g, part, to);
}

// Panels of B as it is stored.
void copy_b(const Gemm<float>& g, const Part& part, float* to) {
  for (int64_t j = 0; j < part.cols; j += kCols) {
    const int64_t cols = at_most(part.cols - j, kCols);
    const float* from = g.b + part.from * g.b_stride + part.col + j;
    for (int64_t p = 0; p < part.depth; ++p) {
      float* row = to + j * part.depth + p * kCols;
      copy(from + p * g.b_stride, cols, row);
      clear(row + cols, kCols - cols);
    }
  }
}

// 8 columns of a panel out of as many rows of a transposed B.
void turn_rows(const float* rows, int64_t stride, int64_t depth, float* panel) {
  const auto* words = reinterpret_cast<const uint32_t*>(rows);
  int64_t p = 0;
  for (; p + 8 <= depth; p += 8)
    transpose_eight(words + p, stride, reinterpret_cast<uint32_t*>(panel + p * kCols), kCols);
  for (; p < depth; ++p)
    for (int64_t j = 0; j < 8; ++j) panel[p * kCols + j] = rows[j * stride + p];
}

void turn_b(const Gemm<float>& g, const Part& part, float* to) {
  for (int64_t j = 0; j < part.cols; j += kCols) {
    float* panel = to + j * part.depth;
    const int64_t cols = at_most(part.cols - j, kCols);
    const float* from = g.b + (part.col + j) * g.b_stride + part.from;
    if (cols < kCols) clear(panel, part.depth * kCols);
    int64_t i = 0;
    for (; i + 8 <= cols; i += 8) turn_rows(from + i * g.b_stride, g.b_stride, part.depth, panel + i);
    for (; i < cols; ++i)
      for (int64_t p = 0; p < part.depth; ++p) panel[p * kCols + i] = from[i * g.b_stride + p];
  }
}

template <Output output>
void write_sums(const float* sums, const Part& part, MutableRows c) {
  for (int64_t r = 0; r < part.rows; ++r)
    for_each_vector(0, part.cols, [&](int64_t i, auto lanes) {
      const Vector sum = load(sums + r * kCols + i, lanes);
      store(output == Output::Accumulate ? hn::Add(load(c.at(r) + i, lanes), sum) : sum, c.at(r) + i, lanes);
    });
}

// One block of sums. What is added to C is summed up first, beside C, as are blocks at C's edges. Up to
// kDepth summands that gives the bits of a product and a sum of its own; more are added part by part.
template <Output output, class A>
void multiply_panel(const A a, const float* panel, const Part& part, MutableRows c, float* beside) {
  const ConstRows b{panel, kCols};
  if (output == Output::Overwrite && part.rows == kRows && part.cols == kCols)
    return multiply<Output::Overwrite>(a, b, part.depth, c);
  multiply<Output::Overwrite>(a, b, part.depth, {beside, kCols});
  write_sums<output>(beside, part, c);
}

template <Output output, class A>
void multiply_block(const Gemm<float>& g, const Part& block, Buffers& buffers) {
  for (int64_t i = 0; i < block.rows; i += kRows) {
    const A a{{buffers.a + i * kStride, g.a_transpose == Transpose::Yes ? kRows : kStride}};
    for (int64_t j = 0; j < block.cols; j += kCols) {
      const Part part{.row = block.row + i,
                      .rows = at_most(block.rows - i, kRows),
                      .col = block.col + j,
                      .cols = at_most(block.cols - j, kCols),
                      .from = block.from,
                      .depth = block.depth};
      multiply_panel<output>(a, buffers.b + j * block.depth, part,
                             {g.c + part.row * g.c_stride + part.col, g.c_stride}, buffers.c);
    }
  }
}

template <class A>
void multiply_rows(const Gemm<float>& g, Part block, Buffers& buffers) {
  pack_a(g, block, buffers.a);
  for (int64_t j = 0; j < g.n; j += kColumns) {
    block.col = j;
    block.cols = at_most(g.n - j, kColumns);
    (g.b_transpose == Transpose::Yes ? turn_b : copy_b)(g, block, buffers.b);
    if (block.from == 0 && g.output == Output::Overwrite) {
      multiply_block<Output::Overwrite, A>(g, block, buffers);
    } else {
      multiply_block<Output::Accumulate, A>(g, block, buffers);
    }
  }
}

template <class A>
void multiply_all(const Gemm<float>& g) {
  Buffers buffers;
  for (int64_t i = 0; i < g.m; i += kBlockRows) {
    // Once without summands if there are none: C is then zero, or stays.
    for (int64_t p = 0; p < g.k || p == 0; p += kDepth) {
      const Part block{.row = i,
                       .rows = at_most(g.m - i, kBlockRows),
                       .col = 0,
                       .cols = 0,
                       .from = p,
                       .depth = at_most(g.k - p, kDepth)};
      multiply_rows<A>(g, block, buffers);
    }
  }
}

void gemm(const Gemm<float>& g) {
  if (g.a_transpose == Transpose::Yes) return multiply_all<ByColumns>(g);
  multiply_all<ByRows>(g);
}

}  // namespace

void add_gemm(Kernels<float>& table) {
  table.gemm = gemm;
}

}  // namespace sluice::SLUICE_SIMD_NAMESPACE
