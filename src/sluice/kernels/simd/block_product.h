// The matrix products of attention between a block of queries and a block of keys, on sums in registers.
// Shapes: hd head_dim; scores are [kQueryBlock, kScoreStride].
#pragma once

#include "sluice/kernels/simd/head_rows.h"

namespace sluice::SLUICE_SIMD_NAMESPACE {
namespace {

static_assert(kQueryBlock % kRows == 0 && kKeyBlock % kRows == 0 && kKeyBlock % kCols == 0);
static_assert(32 % kCols == 0 && 96 % kRows == 0, "attention_row_stride and attention_key_rows round up so");

// Queries `first` … first + rows against keys `from` … from + keys of a sequence. Queries are numbered like
// keys: the first one after a past of 10 is 10.
struct Block {
  int64_t first, rows;
  int64_t from, keys;
  int64_t head_dim;

  // How many of the keys query `row` of the block sees.
  int64_t seen(int64_t row) const {
    const int64_t count = first + row + 1 - from;
    return count < 0 ? 0 : count < keys ? count : keys;
  }

  // The first row that sees a key of the block; at least `rows` if none does.
  int64_t first_row(int64_t key) const {
    const int64_t row = from + key - first;
    return row < 0 ? 0 : row;
  }

  // Keys up to the end of a group of rows of sums.
  int64_t padded_keys() const { return (keys + kRows - 1) / kRows * kRows; }
};

// Keys (or values) by columns: panels [hd, kCols] of kCols keys each, zeros after the last key.
inline void turn_keys(ConstRows keys, int64_t count, int64_t head_dim, float* panels) {
  for (int64_t first = 0; first < count; first += kCols) {
    float* panel = panels + first * head_dim;
    const int64_t here = count - first < kCols ? count - first : kCols;
    if (here < kCols) clear(panel, kCols * head_dim);
    for (int64_t j = 0; j < here; ++j) {
      const float* key = keys.at(first + j);
      for (int64_t d = 0; d < head_dim; ++d) panel[d * kCols + j] = key[d];
    }
  }
}

// scores = rows · keysᵀ, for the groups of rows that see something; panels as from turn_keys.
inline void score_product(const Block& block, ConstRows rows, const float* panels, MutableRows scores) {
  for (int64_t j = 0; j < block.keys; j += kCols) {
    const ConstRows panel{panels + (block.from + j) * block.head_dim, kCols};
    for (int64_t r = block.first_row(j) / kRows * kRows; r < block.rows; r += kRows)
      multiply<Output::Overwrite>(ByRows{rows.from(r)}, panel, block.head_dim, scores.from(r).column(j));
  }
}

// out += scores · rows of the keys, for scores that are zero where a query does not see a key.
inline void add_key_product(const Block& block, ConstRows scores, ConstRows rows, MutableRows out) {
  for (int64_t c = 0; c < block.head_dim; c += kCols) {
    for (int64_t r = 0; r < block.rows; r += kRows) {
      const int64_t last = (r + kRows < block.rows ? r + kRows : block.rows) - 1;
      multiply<Output::Accumulate>(ByRows{scores.from(r)}, rows.from(block.from).column(c), block.seen(last),
                                   out.from(r).column(c));
    }
  }
}

// The same, but what a query does not see is not touched: 0 · NaN would be NaN.
inline void add_seen_product(const Block& block, ConstRows scores, ConstRows rows, MutableRows out) {
  for (int64_t c = 0; c < block.head_dim; c += kCols) {
    for (int64_t r = 0; r < block.rows; r += kRows) {
      multiply<Output::Accumulate>(ByRows{scores.from(r)}, rows.from(block.from).column(c), block.seen(r),
                                   out.from(r).column(c));
    }
  }
  // Up to here each group saw what its first row sees.
  for (int64_t r = 0; r < block.rows; ++r) {
    float* to = out.at(r);
    for (int64_t j = block.seen(r / kRows * kRows); j < block.seen(r); ++j) {
      const Vector factor = set(scores.at(r)[j]);
      const float* row = rows.at(block.from + j);
      for (int64_t c = 0; c < block.head_dim; c += kLanes)
        store(hn::MulAdd(factor, load(row + c, Full{}), load(to + c, Full{})), to + c, Full{});
    }
  }
}

// out (rows of keys) += scoresᵀ · rows of the queries, for scores that are zero where a query does not see a
// key, up to padded_keys().
inline void add_query_product(const Block& block, ConstRows scores, ConstRows rows, MutableRows out) {
  for (int64_t c = 0; c < block.head_dim; c += kCols) {
    for (int64_t j = 0; j < block.keys && block.first_row(j) < block.rows; j += kRows) {
      const int64_t r = block.first_row(j);
      multiply<Output::Accumulate>(ByColumns{scores.from(r).column(j)}, rows.from(r).column(c),
                                   block.rows - r, out.from(block.from + j).column(c));
    }
  }
}

}  // namespace
}  // namespace sluice::SLUICE_SIMD_NAMESPACE
