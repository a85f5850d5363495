// IEEE half precision, which only files have: read into f32 or bf16, written from them.
#pragma once

#include <bit>
#include <cstdint>

namespace sluice {

struct F16 {
  uint16_t bits = 0;

  bool operator==(const F16&) const = default;
};

// Exact for every value. Chosen by masks and not by branches, so that g++ vectorises loops over it;
// subnormals go through an integer, so that a processor told to flush f32 subnormals to zero gives the same.
inline float to_float(F16 value) {
  constexpr uint32_t kRebias = (127U - 15U) << 23;  // f16 exponents have bias 15, f32 ones 127
  const uint32_t sign = (value.bits & 0x8000U) << 16;
  const uint32_t magnitude = value.bits & 0x7fffU;
  const uint32_t normal = (magnitude << 13) + kRebias;  // 10 bits of fraction become the upper ones of 23
  const auto steps = static_cast<float>(static_cast<int32_t>(magnitude));
  const auto subnormal = std::bit_cast<uint32_t>(steps * 0x1p-24F);
  const uint32_t is_subnormal = 0U - static_cast<uint32_t>(magnitude < 0x0400U);
  const uint32_t is_special = 0U - static_cast<uint32_t>(magnitude >= 0x7c00U);
  const uint32_t finite = (subnormal & is_subnormal) | (normal & ~is_subnormal);
  return std::bit_cast<float>(sign | finite | (is_special & 0x7f800000U));
}

// Rounds to nearest, ties to even; what is beyond the range becomes infinity, a NaN stays a (quiet) NaN.
inline F16 to_f16(float value) {
  constexpr uint32_t kRebias = (127U - 15U) << 23;
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 16 & 0x8000U;
  const uint32_t magnitude = bits & 0x7fffffffU;
  uint32_t half = 0;
  if (magnitude > 0x7f800000U) {
    half = 0x7e00U | (magnitude >> 13 & 0x03ffU);
  } else if (magnitude >= 0x477ff000U) {  // 65520, halfway from the largest f16 to the next power of two
    half = 0x7c00U;
  } else if (magnitude < 0x38800000U) {  // 2^-14, the smallest normal f16
    // In [0.5, 1) neighbouring floats are 2^-24 apart, as f16 subnormals are: the addition rounds for us.
    half = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - std::bit_cast<uint32_t>(0.5F);
  } else {
    half = (magnitude - kRebias + 0x0fffU + (magnitude >> 13 & 1U)) >> 13;
  }
  return {static_cast<uint16_t>(sign | half)};
}

}  // namespace sluice
