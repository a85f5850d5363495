#include "sluice/ops/packed_weights.h"

namespace sluice {
namespace {

const void* address(const Tensor& weight) {
  return weight.dtype() == DType::BF16 ? static_cast<const void*>(weight.data<Bf16>())
                                       : static_cast<const void*>(weight.data<float>());
}

PackedMatrix packed(const Context& context, const Tensor& weight, Transpose transpose) {
  const bool narrow = weight.dtype() == DType::BF16;
  // A B operand is packed by what the product does not sum over: rows of the weight in x · weightᵀ.
  const bool by_rows = transpose == Transpose::Yes;
  return pack(context, {.operand = {.f32 = narrow ? nullptr : weight.data<float>(),
                                    .bf16 = narrow ? weight.data<Bf16>() : nullptr,
                                    .stride = weight.cols(),
                                    .transpose = by_rows ? Transpose::No : Transpose::Yes},
                        .outer = by_rows ? weight.rows() : weight.cols(),
                        .depth = by_rows ? weight.cols() : weight.rows(),
                        .format = TileFormat::B});
}

}  // namespace

const PackedMatrix& PackedWeights::operand(const Context& context, const Tensor& weight,
                                           Transpose transpose) {
  const auto [at, is_new] = entries_.try_emplace(Key{address(weight), transpose});
  Entry& entry = at->second;
  if (is_new) {
    entry = {.weight = weight, .packed = packed(context, weight, transpose)};
    weight.forget_pages();
  }
  SLUICE_ASSERT(entry.weight.shape() == weight.shape(), "packed weights: {} was packed as {}",
                weight.shape().text(), entry.weight.shape().text());
  return entry.packed;
}

const PackedMatrix* PackedWeights::find(const Tensor& weight, Transpose transpose) const {
  const auto found = entries_.find(Key{address(weight), transpose});
  return found == entries_.end() ? nullptr : &found->second.packed;
}

bool multiplies_tiles(const Context& context, const Tensor& weight) {
  return weight.dtype() == DType::BF16 ||
         (weight.dtype() == DType::F32 && context.precision == Precision::Bf16);
}

PackedMatrix packed_weight(const Context& context, const Tensor& weight, Transpose transpose) {
  if (context.packed != nullptr) return context.packed->operand(context, weight, transpose);
  return packed(context, weight, transpose);
}

}  // namespace sluice
