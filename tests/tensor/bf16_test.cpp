// Bits of a float: sign, 8 of exponent, then the 7 of the fraction that bf16 keeps and 16 that it rounds off.
#include "sluice/tensor/bf16.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "sluice/base/random.h"

namespace sluice {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

float float_of(uint32_t bits) {
  return std::bit_cast<float>(bits);
}

bool is_nan(Bf16 value) {
  return (value.bits & 0x7fff) > 0x7f80;
}

TEST(Bf16, every_value_survives_the_way_to_float_and_back) {
  for (uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const Bf16 value{static_cast<uint16_t>(bits)};
    const Bf16 back = to_bf16(to_float(value));
    if (is_nan(value)) {
      ASSERT_EQ(back.bits, bits | 0x40) << "a NaN keeps sign and payload and becomes quiet";
    } else {
      ASSERT_EQ(back.bits, bits);
    }
  }
}

TEST(Bf16, a_value_as_float_is_its_bits_in_the_upper_half) {
  EXPECT_EQ(to_float({0x3f80}), 1.0F);
  EXPECT_EQ(to_float({0xc049}), -3.140625F);
  EXPECT_EQ(to_float({0x0001}), 0x1p-133F);
}

TEST(Bf16, ties_go_to_the_even_neighbour) {
  for (const uint32_t sign : {0x0000U, 0x8000U}) {
    for (uint32_t upper = 0; upper < 0x7f80; ++upper) {
      const uint32_t even = upper + (upper & 1);
      ASSERT_EQ(to_bf16(float_of((sign | upper) << 16 | 0x8000)).bits, sign | even) << upper;
    }
  }
}

TEST(Bf16, all_else_goes_to_the_nearer_neighbour) {
  for (const uint32_t sign : {0x0000U, 0x8000U}) {
    for (uint32_t upper = 0; upper < 0x7f80; ++upper) {
      const uint32_t bits = (sign | upper) << 16;
      ASSERT_EQ(to_bf16(float_of(bits | 0x0001)).bits, sign | upper);
      ASSERT_EQ(to_bf16(float_of(bits | 0x7fff)).bits, sign | upper);
      ASSERT_EQ(to_bf16(float_of(bits | 0x8001)).bits, sign | (upper + 1));
      ASSERT_EQ(to_bf16(float_of(bits | 0xffff)).bits, sign | (upper + 1));
    }
  }
}

TEST(Bf16, the_result_is_never_farther_than_either_neighbour) {
  for (uint64_t i = 0; i < 100'000; ++i) {
    const float value = float_of(Random(7).bits(i)[0]);
    if (!std::isfinite(value) || std::abs(value) > 0x1.fep127F) continue;
    const Bf16 rounded = to_bf16(value);
    const double error = std::abs(double{to_float(rounded)} - double{value});
    for (const int step : {-1, 1}) {
      const Bf16 neighbour{static_cast<uint16_t>(rounded.bits + step)};
      if (is_nan(neighbour)) continue;  // below zero lies nothing of the same sign
      ASSERT_LE(error, std::abs(double{to_float(neighbour)} - double{value})) << value;
    }
  }
}

TEST(Bf16, values_beyond_the_largest_become_infinite) {
  EXPECT_EQ(to_float(to_bf16(0x1.fep127F)), 0x1.fep127F);
  EXPECT_EQ(to_float(to_bf16(0x1.fefffep127F)), 0x1.fep127F);
  EXPECT_EQ(to_float(to_bf16(0x1.ffp127F)), kInfinity);
  EXPECT_EQ(to_float(to_bf16(-std::numeric_limits<float>::max())), -kInfinity);
}

TEST(Bf16, infinity_stays) {
  EXPECT_EQ(to_bf16(kInfinity).bits, 0x7f80);
  EXPECT_EQ(to_bf16(-kInfinity).bits, 0xff80);
}

TEST(Bf16, zero_keeps_its_sign) {
  EXPECT_EQ(to_bf16(0.0F).bits, 0x0000);
  EXPECT_EQ(to_bf16(-0.0F).bits, 0x8000);
}

TEST(Bf16, denormals_are_rounded_and_not_dropped) {
  EXPECT_EQ(to_bf16(0x1p-133F).bits, 0x0001);
  EXPECT_EQ(to_bf16(0x1.8p-133F).bits, 0x0002) << "a tie";
  EXPECT_EQ(to_bf16(0x1p-134F).bits, 0x0000) << "a tie";
  EXPECT_EQ(to_bf16(0x1.0002p-134F).bits, 0x0001);
  EXPECT_EQ(to_bf16(-std::numeric_limits<float>::denorm_min()).bits, 0x8000);
  EXPECT_EQ(to_float(to_bf16(0x1.fffffcp-127F)), 0x1p-126F) << "the smallest normal value";
}

TEST(Bf16, a_nan_stays_a_nan) {
  // Plain rounding would make infinity of the third and a negative zero of the last.
  for (const uint32_t bits : {0x7fc00000U, 0xffc00000U, 0x7f800001U, 0xff800001U, 0x7f80ffffU, 0x7fffffffU}) {
    EXPECT_TRUE(is_nan(to_bf16(float_of(bits)))) << bits;
    EXPECT_TRUE(std::isnan(to_float(to_bf16(float_of(bits))))) << bits;
  }
}

}  // namespace
}  // namespace sluice
