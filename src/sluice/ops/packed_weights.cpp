#include "sluice/ops/packed_weights.h"

#include <algorithm>

namespace sluice {
namespace {

// Outer indices that are packed at once, a multiple of a pair of strips: 16 MiB at a depth of 2048, where an
// output layer's whole would be 600.
constexpr int64_t kPart = 4096;

const void* address(const Tensor& weight) {
  return weight.dtype() == DType::BF16 ? static_cast<const void*>(weight.data<Bf16>())
                                       : static_cast<const void*>(weight.data<float>());
}

// A weight [M, K] as a B operand, which is packed by what the product does not sum over: its rows in
// x · weightᵀ, its columns in dy · weight.
struct Operand : WeightOperand {
  bool by_rows() const { return transpose == Transpose::Yes; }
  int64_t outer() const { return by_rows() ? weight.rows() : weight.cols(); }
  int64_t depth() const { return by_rows() ? weight.cols() : weight.rows(); }

  // Calls body(range) for parts of the outer indices.
  template <class Body>
  void each_part(const Body& body) const {
    for (int64_t first = 0; first < outer(); first += kPart)
      body(Range{first, std::min(first + kPart, outer())});
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

// Rows of a file leave memory as soon as they are packed, or all weights would be there twice.
PackedMatrix packed(const Context& context, const Operand& operand) {
  const PackedMatrix whole{
      .tiles = context.empty({packed_count(operand.outer(), operand.depth())}, DType::BF16),
      .outer = operand.outer(),
      .depth = operand.depth()};
  operand.each_part([&](Range range) {
    pack_into(context, operand.part(range),
              whole.tiles.data<Bf16>() + packed_count(range.begin, operand.depth()));
    if (operand.by_rows()) operand.weight.forget_rows(range.begin, range.end);
  });
  return whole;
}

// A range of C's columns, and of what is added to them.
StoreSums<float> columns_of(StoreSums<float> to, Range range) {
  to.n = range.size();
  to.c += range.begin;
  if (to.addend != nullptr) to.addend += range.begin;
  return to;
}

}  // namespace

const PackedMatrix& PackedWeights::operand(const Context& context, const Tensor& weight,
                                           Transpose transpose) {
  if (const PackedMatrix* known = find(weight, transpose); known != nullptr) return *known;
  PackedMatrix made = packed(context, {{weight, transpose}});
  const Entry entry{.weight = weight, .packed = std::move(made)};
  return entries_.emplace(Key{address(weight), transpose}, entry).first->second.packed;
}

const PackedMatrix* PackedWeights::find(const Tensor& weight, Transpose transpose) const {
  const auto found = entries_.find(Key{address(weight), transpose});
  if (found == entries_.end()) return nullptr;
  const Entry& entry = found->second;
  SLUICE_ASSERT(entry.weight.shape() == weight.shape(), "packed weights: {} was packed as {}",
                weight.shape().text(), entry.weight.shape().text());
  return &entry.packed;
}

bool multiplies_tiles(const Context& context, const Tensor& weight) {
  return weight.dtype() == DType::BF16 ||
         (weight.dtype() == DType::F32 && context.precision == Precision::Bf16);
}

PackedMatrix packed_weight(const Context& context, const Tensor& weight, Transpose transpose) {
  if (context.packed != nullptr) return context.packed->operand(context, weight, transpose);
  const Operand operand{{weight, transpose}};
  return pack(context, operand.part({0, operand.outer()}));
}

void multiply_weight(const Context& context, const PackedMatrix& x, const WeightOperand& weight,
                     const StoreSums<float>& to) {
  if (context.packed != nullptr)
    return multiply(context, x, context.packed->operand(context, weight.weight, weight.transpose), to);
  const Operand operand{weight};
  operand.each_part(
      [&](Range range) { multiply(context, x, pack(context, operand.part(range)), columns_of(to, range)); });
}

}  // namespace sluice
