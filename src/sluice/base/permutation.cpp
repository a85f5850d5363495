#include "sluice/base/permutation.h"

#include <algorithm>
#include <bit>

#include "sluice/base/assert.h"

namespace sluice {
namespace {

// Four rounds make a random-looking permutation of a large domain; halves of a few bits need more.
constexpr std::uint64_t kFeistelRounds = 8;

// Two halves of `bits` bits each change places; whatever the round function is, that can be undone.
std::uint64_t scramble(std::uint64_t x, int bits, const Random& key) {
  const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  std::uint64_t left = x >> bits, right = x & mask;
  for (std::uint64_t round = 0; round < kFeistelRounds; ++round) {
    // A half has at most 32 bits, so that round and half make one index.
    const std::uint64_t mixed = left ^ (key.bits(round << 32 | right)[0] & mask);
    left = right;
    right = mixed;
  }
  return left << bits | right;
}

}  // namespace

std::uint64_t Permutation::operator()(std::uint64_t index) const {
  SLUICE_ASSERT(index < size_, "Permutation: index {} of {}", index, size_);
  const int half = std::max(1, (static_cast<int>(std::bit_width(size_ - 1)) + 1) / 2);
  // The domain is less than four times the size (or four, if that is 1): four turns on average at most.
  std::uint64_t x = scramble(index, half, key_);
  while (x >= size_) x = scramble(x, half, key_);
  return x;
}

}  // namespace sluice
