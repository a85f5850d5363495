#include "sluice/io/nonfinite.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace sluice {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

template <class Stored>
std::span<const std::byte> bytes_of(const std::vector<Stored>& values) {
  return std::as_bytes(std::span(values));
}

std::optional<NonFiniteElement> found(const std::vector<float>& values, int threads = 2) {
  return first_nonfinite(bytes_of(values), StoredType::F32, Threads(threads));
}

TEST(NonFinite, are_not_the_largest_and_smallest_numbers) {
  const float largest = std::numeric_limits<float>::max();
  const float subnormal = std::numeric_limits<float>::denorm_min();
  EXPECT_FALSE(found({0.0F, -0.0F, largest, -largest, subnormal, 1.0F}));
  EXPECT_FALSE(found({}));
  EXPECT_FALSE(first_nonfinite(bytes_of<uint16_t>({0x7F7F, 0xFF7F, 0}), StoredType::BF16, Threads(1)));
  EXPECT_FALSE(first_nonfinite(bytes_of<uint16_t>({0x7BFF, 0xFBFF, 0}), StoredType::F16, Threads(1)));
}

TEST(NonFinite, are_found_at_any_place) {
  for (const size_t size : {1U, 2U, 1023U, 1025U, 4096U, 20'000U}) {
    std::vector<float> values(size, 1.0F);
    for (size_t at = 0; at < size; at += std::max<size_t>(1, size / 7)) {
      values[at] = kInfinity;
      const auto element = found(values);
      ASSERT_TRUE(element) << at << " of " << size;
      EXPECT_EQ(element->index, static_cast<int64_t>(at));
      EXPECT_EQ(element->value, kInfinity);
      values[at] = 1.0F;
    }
  }
}

TEST(NonFinite, are_told_by_the_first_with_any_number_of_threads) {
  std::vector<float> values(3'000'000, 0.5F);
  values[2'999'999] = kInfinity;
  values[1'234'567] = -kInfinity;
  values[1'234'568] = std::nanf("");
  for (const int threads : {1, 2, 7}) {
    const auto element = found(values, threads);
    ASSERT_TRUE(element);
    EXPECT_EQ(element->index, 1'234'567);
    EXPECT_EQ(element->value, -kInfinity);
  }
}

TEST(NonFinite, are_found_in_every_type_and_unaligned) {
  for (const auto& [type, infinity] : {std::pair{StoredType::BF16, 0x7F80}, {StoredType::F16, 0xFC00}}) {
    std::vector<uint16_t> values(3000, 0x3C00);
    values[2500] = static_cast<uint16_t>(infinity);
    std::vector<std::byte> shifted(1 + values.size() * 2);
    std::memcpy(shifted.data() + 1, values.data(), values.size() * 2);
    const auto element = first_nonfinite(std::span(shifted).subspan(1), type, Threads(2));
    ASSERT_TRUE(element);
    EXPECT_EQ(element->index, 2500);
    EXPECT_EQ(element->value, type == StoredType::BF16 ? kInfinity : -kInfinity);
  }
  const auto nan = first_nonfinite(bytes_of<uint16_t>({0, 0x7E00}), StoredType::F16, Threads(1));
  ASSERT_TRUE(nan);
  EXPECT_EQ(nan->index, 1);
  EXPECT_FALSE(std::isfinite(nan->value));
}

}  // namespace
}  // namespace sluice
