// Products of int8 matrices, quantised symmetrically in groups along the input: decoding reads half the bytes
// of bf16.
//
// A group of an input row or of a weight's row is int8 values of -127 … 127 and one scale. Sums within a
// group are integers and exact, and the groups are added up in order, so that every instruction set gives the
// same bits for any number of rows.
//
// Weights are packed by blocks of 16 outputs: words of four int8 along the input, for 16 outputs one after
// the other, so that a vector of sums has an output per lane and memory is read in order.
#pragma once

#include <cstdint>

#include "sluice/kernels/gemm.h"

namespace sluice {

// Elements that share a scale. Of 32 bits per 128 elements 3% is added to what is read; docs/kernels.md
// compares sizes.
inline constexpr int64_t kInt8Group = 128;

inline constexpr int64_t kInt8Word = 4;      // elements of a word
inline constexpr int64_t kInt8Outputs = 16;  // outputs of a block
inline constexpr int64_t kInt8GroupWords = kInt8Group / kInt8Word;

// Largest magnitude; -128 is left out, its magnitude would need a ninth bit.
inline constexpr int32_t kInt8Limit = 127;

// A group whose largest magnitude is below becomes zeros: the inverse of its scale would overflow.
inline constexpr float kInt8Least = 1e-30F;

// Static, as the linker could otherwise keep the copy of an instruction set that this CPU lacks.
static inline int64_t int8_groups(int64_t k) {
  return (k + kInt8Group - 1) / kInt8Group;
}

static inline int64_t int8_words(int64_t k) {
  return (k + kInt8Word - 1) / kInt8Word;
}

static inline int64_t int8_blocks(int64_t outputs) {
  return (outputs + kInt8Outputs - 1) / kInt8Outputs;
}

// q = x / scale rounded to nearest even, where scale is the largest magnitude of the group over 127. A group
// with an infinity or a NaN is zeros with a scale of NaN. The range counts rows.
template <class T>
struct QuantizeRows {
  int64_t k = 0;
  const T* x = nullptr;     // [rows, k]
  int8_t* q = nullptr;      // [rows, words of k, 4], zeros behind the end
  T* scales = nullptr;      // [rows, groups]
  int32_t* sums = nullptr;  // [rows, groups]: of q, for instructions that want the weights unsigned
};

template <class T>
struct QuantizedRows {
  const int8_t* q = nullptr;
  const T* scales = nullptr;
  const int32_t* sums = nullptr;
};

// y[r, o] = Σ over groups of (x_scale · weight_scale) · Σ x[r, i] · weight[o, i], or added to y. The range
// counts blocks of outputs.
template <class T>
struct Int8Product {
  int64_t rows = 0, k = 0, outputs = 0;
  QuantizedRows<T> x = {};
  const int8_t* weight = nullptr;    // [blocks, words, 16, 4], zeros behind the ends
  const T* weight_scales = nullptr;  // [blocks, groups, 16]
  T* y = nullptr;                    // [rows, outputs]
  int64_t y_stride = 0;
  Output output = Output::Overwrite;
};

}  // namespace sluice
