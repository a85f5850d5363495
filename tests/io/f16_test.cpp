#include "sluice/io/f16.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sluice/tensor/bf16.h"

namespace sluice {
namespace {

constexpr uint32_t kInfinityBits = 0x7c00;

F16 half(uint32_t bits) {
  return {static_cast<uint16_t>(bits)};
}

// The definition, in f64: sign · 1.fraction · 2^(exponent - 15), or 0.fraction · 2^-14.
double defined_value(uint32_t bits) {
  const double sign = (bits & 0x8000U) != 0 ? -1.0 : 1.0;
  const int exponent = static_cast<int>(bits >> 10 & 31U);
  const double fraction = (bits & 1023U) / 1024.0;
  if (exponent == 31) return fraction == 0 ? sign * HUGE_VAL : std::nan("");
  return exponent == 0 ? sign * std::ldexp(fraction, -14) : sign * std::ldexp(1 + fraction, exponent - 15);
}

TEST(F16, all_values_become_f32_exactly) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float got = to_float(half(bits));
    const double expected = defined_value(bits);
    ASSERT_EQ(std::signbit(got), (bits & 0x8000U) != 0) << bits;
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(got)) << bits;
    } else {
      ASSERT_EQ(static_cast<double>(got), expected) << bits;
    }
  }
}

TEST(F16, all_values_survive_f32) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const bool nan = (bits & 0x7fffU) > kInfinityBits;
    const uint32_t expected = nan ? bits | 0x0200U : bits;  // quiet
    ASSERT_EQ(to_f16(to_float(half(bits))).bits, expected) << bits;
  }
}

// Between two neighbours the rounding can change only at their middle, which f32 has exactly.
TEST(F16, rounds_to_nearest_even_between_all_neighbours) {
  for (uint32_t low = 0; low < kInfinityBits; ++low) {
    const uint32_t high = low + 1;
    const double next = high == kInfinityBits ? 65536.0 : defined_value(high);
    const auto middle = static_cast<float>((defined_value(low) + next) / 2);
    ASSERT_EQ(to_f16(middle).bits, low % 2 == 0 ? low : high) << low;
    ASSERT_EQ(to_f16(std::nextafterf(middle, 0.0F)).bits, low) << low;
    ASSERT_EQ(to_f16(std::nextafterf(middle, HUGE_VALF)).bits, high) << low;
    ASSERT_EQ(to_f16(-middle).bits, 0x8000U | to_f16(middle).bits) << low;
  }
}

TEST(F16, has_infinity_for_all_that_is_larger) {
  EXPECT_EQ(to_f16(HUGE_VALF).bits, 0x7c00);
  EXPECT_EQ(to_f16(-HUGE_VALF).bits, 0xfc00);
  EXPECT_EQ(to_f16(std::numeric_limits<float>::max()).bits, 0x7c00);
  EXPECT_EQ(to_f16(std::numeric_limits<float>::denorm_min()).bits, 0);
  EXPECT_TRUE(std::isnan(to_float(to_f16(std::nanf("")))));
}

// Of the two bf16 values around a number the nearer one, of equally near ones the even one.
TEST(F16, all_values_become_the_nearest_bf16) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = to_float(half(bits));
    const Bf16 got = to_bf16(value);
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(to_float(got))) << bits;
      continue;
    }
    if (std::isinf(value)) {
      ASSERT_EQ(to_float(got), value);
      continue;
    }
    const auto towards_zero = static_cast<uint16_t>(std::bit_cast<uint32_t>(value) >> 16);
    const auto away = static_cast<uint16_t>(towards_zero + 1);
    const double below = std::abs(double{value} - to_float(Bf16{towards_zero}));
    const double above = std::abs(double{value} - to_float(Bf16{away}));
    const uint16_t even = towards_zero % 2 == 0 ? towards_zero : away;
    ASSERT_EQ(got.bits, below < above ? towards_zero : above < below ? away : even) << bits;
  }
}

}  // namespace
}  // namespace sluice
