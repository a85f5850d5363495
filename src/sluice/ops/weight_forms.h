// What is kept of a weight beside its elements, and how it is packed. For ops/weight*.cpp and
// ops/grouped_tiles.cpp alone.
#pragma once

#include <algorithm>
#include <mutex>

#include "sluice/ops/int8_matrix.h"
#include "sluice/ops/packed_matrix.h"

namespace sluice {

struct WeightForms {
  // What products use instead of the elements, which may then be undefined.
  Int8Matrix int8 = {};

  struct Packed {
    Tensor source = {};  // other elements than these: packed anew
    PackedMatrix matrix = {};
  };
  // Several passes may share a model. Whoever changes elements in place calls drop_packed().
  std::mutex mutex = {};
  Packed transposed = {}, plain = {};

  Packed& packed(Transpose transpose) { return transpose == Transpose::Yes ? transposed : plain; }
};

// Outer indices that are packed at once, a multiple of a pair of strips: 16 MiB at a depth of 2048, where an
// output layer's whole would be 600.
inline constexpr int64_t kWeightPart = 4096;

// A weight [M, K] as a B operand, which is packed by what the product does not sum over: its rows in
// x · weightᵀ, its columns in dy · weight.
struct WeightOperand {
  const Tensor& weight;
  Transpose transpose;

  bool by_rows() const { return transpose == Transpose::Yes; }
  int64_t outer() const { return by_rows() ? weight.rows() : weight.cols(); }
  int64_t depth() const { return by_rows() ? weight.cols() : weight.rows(); }

  // Calls body(range) for parts of the outer indices.
  template <class Body>
  void each_part(const Body& body) const {
    for (int64_t first = 0; first < outer(); first += kWeightPart)
      body(Range{first, std::min(first + kWeightPart, outer())});
  }

  PackRequest part(Range range) const {
    const int64_t skipped = by_rows() ? range.begin * weight.cols() : range.begin;
    const bool narrow = weight.dtype() == DType::BF16;
    return {.operand = {.f32 = narrow ? nullptr : weight.data<float>() + skipped,
                        .bf16 = narrow ? weight.data<Bf16>() + skipped : nullptr,
                        .stride = weight.cols(),
                        .transpose = by_rows() ? Transpose::No : Transpose::Yes},
            .outer = range.size(),
            .depth = depth(),
            .format = TileFormat::B};
  }
};

}  // namespace sluice
