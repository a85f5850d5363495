// Vectors of bf16 and their way to f32 and back.
#pragma once

#include "sluice/kernels/simd/lanes.h"
#include "sluice/tensor/bf16.h"

namespace sluice::SLUICE_SIMD_NAMESPACE {
namespace {

using Bits = hn::RebindToUnsigned<Tag>;
using Halves = hn::Rebind<uint16_t, Tag>;  // as many 16-bit lanes as a Vector has 32-bit ones

HWY_INLINE hn::Vec<Halves> load_bf16(const Bf16* x, Full) {
  return hn::LoadU(Halves{}, &x->bits);
}

HWY_INLINE hn::Vec<Halves> load_bf16(const Bf16* x, Tail tail) {
  alignas(sizeof(Vector)) uint16_t lanes[kLanes] = {};
  std::memcpy(lanes, x, static_cast<size_t>(tail.lanes) * sizeof(Bf16));
  return hn::Load(Halves{}, lanes);
}

HWY_INLINE void store_bf16(hn::Vec<Halves> v, Bf16* y, Full) {
  hn::StoreU(v, Halves{}, &y->bits);
}

HWY_INLINE void store_bf16(hn::Vec<Halves> v, Bf16* y, Tail tail) {
  alignas(sizeof(Vector)) uint16_t lanes[kLanes];
  hn::Store(v, Halves{}, lanes);
  std::memcpy(y, lanes, static_cast<size_t>(tail.lanes) * sizeof(Bf16));
}

// The rounding of tensor/bf16.h on the bits. Highway's own conversion truncated in older versions.
HWY_INLINE hn::Vec<Halves> round_to_bf16(Vector x) {
  const Bits tag_bits{};
  const hn::RebindToSigned<Tag> tag_signed{};
  const auto bits = hn::BitCast(tag_bits, x);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(tag_bits, 1));
  const auto rounded = hn::Add(bits, hn::Add(odd, hn::Set(tag_bits, 0x7fff)));
  const auto quiet = hn::Or(bits, hn::Set(tag_bits, 0x400000));
  const Vector chosen = hn::IfThenElse(hn::Eq(x, x), hn::BitCast(tag, rounded), hn::BitCast(tag, quiet));
  const auto upper = hn::ShiftRight<16>(hn::BitCast(tag_bits, chosen));
  return hn::DemoteTo(Halves{}, hn::BitCast(tag_signed, upper));
}

template <class Part>
HWY_INLINE Vector load_widened(const Bf16* x, Part part) {
  return hn::BitCast(tag, hn::ShiftLeft<16>(hn::PromoteTo(Bits{}, load_bf16(x, part))));
}

// The two bf16 of each word, in f32.
HWY_INLINE Vector lower_halves(hn::Vec<Bits> words) {
  return hn::BitCast(tag, hn::ShiftLeft<16>(words));
}

HWY_INLINE Vector upper_halves(hn::Vec<Bits> words) {
  return hn::BitCast(tag, hn::And(words, hn::Set(Bits{}, 0xffff0000U)));
}

}  // namespace
}  // namespace sluice::SLUICE_SIMD_NAMESPACE
