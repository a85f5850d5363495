#include "sluice/base/permutation.h"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <vector>

#include "sluice/base/assert.h"

namespace sluice {
namespace {

std::vector<std::uint64_t> order_of(std::uint64_t size, std::uint64_t seed) {
  const Permutation permutation(size, Random(seed));
  std::vector<std::uint64_t> order;
  for (std::uint64_t i = 0; i < size; ++i) order.push_back(permutation(i));
  return order;
}

TEST(Permutation, hits_every_value_once_whatever_the_size) {
  for (const std::uint64_t size :
       {1U, 2U, 3U, 4U, 5U, 7U, 15U, 16U, 17U, 63U, 64U, 65U, 255U, 257U, 1023U, 4097U, 9973U}) {
    for (const std::uint64_t seed : {0U, 1U, 99U}) {
      std::vector<int> seen(size);
      for (const std::uint64_t value : order_of(size, seed)) {
        ASSERT_LT(value, size);
        ++seen[value];
      }
      EXPECT_EQ(seen, std::vector<int>(size, 1)) << size << " values, seed " << seed;
    }
  }
}

TEST(Permutation, is_the_same_for_the_same_key_and_another_for_another) {
  EXPECT_EQ(order_of(1000, 5), order_of(1000, 5));
  EXPECT_NE(order_of(1000, 5), order_of(1000, 6));
  EXPECT_NE(order_of(1000, 5), order_of(1001, 5));
}

TEST(Permutation, stays_inside_sizes_near_the_limits) {
  constexpr std::uint64_t kLargest = std::numeric_limits<std::uint64_t>::max();
  for (const std::uint64_t size :
       {kLargest, (kLargest >> 1) + 2, std::uint64_t{1} << 32, (std::uint64_t{1} << 32) + 1}) {
    const Permutation permutation(size, Random(1));
    for (const std::uint64_t index : {std::uint64_t{0}, size / 2, size - 1})
      EXPECT_LT(permutation(index), size);
  }
}

// Over many keys every value is as likely at a place as any other.
TEST(Permutation, prefers_no_value) {
  constexpr std::uint64_t kSize = 7;
  constexpr int kKeys = 21'000;
  std::vector<int> counts(kSize);
  for (int seed = 0; seed < kKeys; ++seed)
    ++counts[Permutation(kSize, Random(static_cast<std::uint64_t>(seed)))(3)];
  double chi_squared = 0;
  for (const int count : counts) chi_squared += (count - kKeys / 7.0) * (count - kKeys / 7.0) / (kKeys / 7.0);
  EXPECT_LT(chi_squared, 27.9) << "six degrees of freedom: one in ten thousand is above";
}

TEST(Permutation, scatters_neighbours) {
  const std::vector<std::uint64_t> order = order_of(10'000, 3);
  int close = 0;
  for (std::size_t i = 1; i < order.size(); ++i) {
    const std::uint64_t distance = std::max(order[i], order[i - 1]) - std::min(order[i], order[i - 1]);
    if (distance <= 10) ++close;
  }
  EXPECT_LT(close, 60) << "about 20 in a random order";
}

TEST(Permutation, refuses_an_index_outside) {
  EXPECT_THROW(Permutation(5, Random(1))(5), AssertionError);
  EXPECT_THROW(Permutation(0, Random(1))(0), AssertionError);
}

}  // namespace
}  // namespace sluice
