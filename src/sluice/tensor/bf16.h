// bfloat16: the upper half of an IEEE float. Storage and exchange only; arithmetic happens in f32.
#pragma once

#include <bit>
#include <cstdint>

namespace sluice {

struct Bf16 {
  uint16_t bits = 0;

  bool operator==(const Bf16&) const = default;
};

inline float to_float(Bf16 value) {
  return std::bit_cast<float>(uint32_t{value.bits} << 16);
}

// Rounds to nearest, ties to even. A NaN stays a (quiet) NaN: plain rounding could carry it into infinity.
inline Bf16 to_bf16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (value != value) return {static_cast<uint16_t>(bits >> 16 | 0x0040U)};
  return {static_cast<uint16_t>((bits + 0x7fffU + (bits >> 16 & 1U)) >> 16)};
}

}  // namespace sluice
