#include "sluice/base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "sluice/base/assert.h"

namespace sluice {
namespace {

using Words = std::array<std::uint32_t, 4>;

struct Moments {
  double mean, variance, skewness, kurtosis;
};

Moments moments(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  double mean = 0, m2 = 0, m3 = 0, m4 = 0;
  for (double v : values) mean += v / n;
  for (double v : values) {
    const double d = v - mean;
    m2 += d * d / n;
    m3 += d * d * d / n;
    m4 += d * d * d * d / n;
  }
  return {mean, m2, m3 / std::pow(m2, 1.5), m4 / (m2 * m2)};
}

// Known answers of the Random123 distribution: counter = (index, stream), key = seed, low words first.
TEST(Random, MatchesThePublishedVectorOfZeros) {
  EXPECT_EQ(Random(0, 0).bits(0), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
}

TEST(Random, MatchesThePublishedVectorOfOnes) {
  constexpr auto kOnes = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(Random(kOnes, kOnes).bits(kOnes), (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
}

TEST(Random, MatchesThePublishedVectorOfPi) {
  const Random random(0x299f31d0a4093822, 0x0370734413198a2e);
  EXPECT_EQ(random.bits(0x85a308d3243f6a88), (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

template <typename T>
class RandomFill : public testing::Test {};
using FloatTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(RandomFill, FloatTypes);

TYPED_TEST(RandomFill, GivesTheSameNumbersForAnySplit) {
  const Random random(7, 3);
  std::vector<TypeParam> whole(1001), parts(1001);
  const std::span<TypeParam> span(parts);
  for (const std::size_t cut : {0, 1, 500, 1001}) {
    random.fill_normal(std::span(whole), 40, 1, 2);
    random.fill_normal(span.first(cut), 40, 1, 2);
    random.fill_normal(span.subspan(cut), 40 + cut, 1, 2);
    EXPECT_EQ(whole, parts) << "normal, cut at " << cut;
    random.fill_uniform(std::span(whole), 40, -1, 2);
    random.fill_uniform(span.first(cut), 40, -1, 2);
    random.fill_uniform(span.subspan(cut), 40 + cut, -1, 2);
    EXPECT_EQ(whole, parts) << "uniform, cut at " << cut;
  }
}

TYPED_TEST(RandomFill, AgreesWithTheSingleNumbers) {
  const Random random(7);
  std::vector<TypeParam> values(3);
  random.fill_uniform(std::span(values), 10, 0, 1);
  EXPECT_EQ(values[2], static_cast<TypeParam>(random.uniform(12)));
  random.fill_normal(std::span(values), 10, 0, 1);
  EXPECT_EQ(values[2], static_cast<TypeParam>(random.normal(12)));
}

TYPED_TEST(RandomFill, NeverRoundsUpToTheUpperEnd) {
  const TypeParam lo = 1;
  const TypeParam hi = std::nextafter(std::nextafter(lo, TypeParam{2}), TypeParam{2});
  std::vector<TypeParam> values(1000);
  Random(1).fill_uniform(std::span(values), 0, lo, hi);
  const auto [smallest, largest] = std::minmax_element(values.begin(), values.end());
  EXPECT_EQ(*smallest, lo);
  EXPECT_LT(*largest, hi);
}

TEST(Random, UniformHasTheMomentsOfAUniformDistribution) {
  std::vector<double> values(200'000);
  Random(11).fill_uniform(std::span(values), 0, 0.0, 1.0);
  const Moments got = moments(values);
  // Tolerances are about 4 standard errors at this sample size.
  EXPECT_NEAR(got.mean, 0.5, 0.0026);
  EXPECT_NEAR(got.variance, 1.0 / 12, 0.0007);
  EXPECT_GE(*std::min_element(values.begin(), values.end()), 0.0);
  EXPECT_LT(*std::max_element(values.begin(), values.end()), 1.0);
}

TEST(Random, NormalHasTheMomentsOfANormalDistribution) {
  std::vector<double> values(200'000);
  Random(12).fill_normal(std::span(values), 0, 0.0, 1.0);
  const Moments got = moments(values);
  EXPECT_NEAR(got.mean, 0.0, 0.009);
  EXPECT_NEAR(got.variance, 1.0, 0.013);
  EXPECT_NEAR(got.skewness, 0.0, 0.022);
  EXPECT_NEAR(got.kurtosis, 3.0, 0.044);
}

TEST(Random, BelowHitsEveryValueEquallyOften) {
  constexpr std::uint64_t kSides = 7;
  constexpr int kThrows = 70'000;
  std::vector<int> counts(kSides);
  const Random random(13);
  for (int i = 0; i < kThrows; ++i) {
    const std::uint64_t value = random.below(static_cast<std::uint64_t>(i), kSides);
    ASSERT_LT(value, kSides);
    ++counts[value];
  }
  double chi_squared = 0;
  for (int count : counts) chi_squared += std::pow(count - 10'000.0, 2) / 10'000.0;
  EXPECT_LT(chi_squared, 22.5);  // the 99.9% point for 6 degrees of freedom
}

TEST(Random, BelowReachesTheUpperHalfOfAHugeRange) {
  constexpr std::uint64_t kHuge = std::numeric_limits<std::uint64_t>::max();
  const Random random(14);
  int upper = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) upper += random.below(i, kHuge) > kHuge / 2 ? 1 : 0;
  EXPECT_NEAR(upper, 500, 64);
  EXPECT_EQ(random.below(5, 1), 0u);
}

TEST(Random, BelowZeroIsAProgrammingError) {
  EXPECT_THROW(Random(1).below(0, 0), AssertionError);
}

TEST(Random, ChildrenAreReproducibleAndDiffer) {
  const Random parent(21);
  std::set<std::uint64_t> streams = {parent.stream()};
  for (std::uint64_t id = 0; id < 1000; ++id) {
    EXPECT_EQ(parent.child(id).bits(5), parent.child(id).bits(5));
    streams.insert(parent.child(id).stream());
    streams.insert(parent.child(0).child(id).stream());
  }
  EXPECT_EQ(streams.size(), 2001u);
}

TEST(Random, StreamsAreUncorrelated) {
  const Random a(5, 0), b(5, 1);
  constexpr int kCount = 100'000;
  double product = 0;
  for (std::uint64_t i = 0; i < kCount; ++i) product += a.normal(i) * b.normal(i);
  EXPECT_NEAR(product / kCount, 0.0, 4 / std::sqrt(kCount));
}

}  // namespace
}  // namespace sluice
