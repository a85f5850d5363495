#include "sluice/base/random.h"

#include <cmath>
#include <numbers>

#include "sluice/base/assert.h"

namespace sluice {
namespace {

using Block = std::array<std::uint32_t, 4>;
__extension__ using Uint128 = unsigned __int128;

constexpr int kPhiloxRounds = 10;
// Multipliers and key increments of the paper; the increments are the golden ratio and sqrt(3) - 1.
constexpr std::uint64_t kMultiplier0 = 0xD2511F53;
constexpr std::uint64_t kMultiplier1 = 0xCD9E8D57;
constexpr std::uint32_t kIncrement0 = 0x9E3779B9;
constexpr std::uint32_t kIncrement1 = 0xBB67AE85;

// Children are drawn under another key than numbers are, so that no stream's name is also one of its values.
constexpr std::uint64_t kChildKey = 0x5851F42D4C957F2D;

std::uint32_t low(std::uint64_t x) {
  return static_cast<std::uint32_t>(x);
}

std::uint32_t high(std::uint64_t x) {
  return static_cast<std::uint32_t>(x >> 32);
}

std::uint64_t join(std::uint32_t lo, std::uint32_t hi) {
  return std::uint64_t{hi} << 32 | lo;
}

Block philox(std::uint64_t counter_low, std::uint64_t counter_high, std::uint64_t key) {
  Block x = {low(counter_low), high(counter_low), low(counter_high), high(counter_high)};
  std::uint32_t key0 = low(key);
  std::uint32_t key1 = high(key);
  for (int round = 0; round < kPhiloxRounds; ++round) {
    const std::uint64_t a = kMultiplier0 * x[0];
    const std::uint64_t b = kMultiplier1 * x[2];
    x = {high(b) ^ x[1] ^ key0, low(b), high(a) ^ x[3] ^ key1, low(a)};
    key0 += kIncrement0;
    key1 += kIncrement1;
  }
  return x;
}

// 53 bits, the precision of a double: every value is exact and the largest is below 1.
double unit(std::uint32_t lo, std::uint32_t hi) {
  return static_cast<double>(join(lo, hi) >> 11) * 0x1p-53;
}

template <typename T>
void fill_uniform_as(const Random& random, std::span<T> out, std::uint64_t first_index, T lo, T hi) {
  const T largest = std::nextafter(hi, lo);
  const double width = static_cast<double>(hi) - static_cast<double>(lo);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const T value = static_cast<T>(static_cast<double>(lo) + width * random.uniform(first_index + i));
    out[i] = value < hi ? value : largest;
  }
}

template <typename T>
void fill_normal_as(const Random& random, std::span<T> out, std::uint64_t first_index, T mean, T std) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double value = random.normal(first_index + i);
    out[i] = static_cast<T>(static_cast<double>(mean) + static_cast<double>(std) * value);
  }
}

}  // namespace

Random Random::child(std::uint64_t id) const {
  const Block x = philox(id, stream_, seed_ ^ kChildKey);
  return Random(seed_, join(x[0], x[1]));
}

Block Random::bits(std::uint64_t index) const {
  return philox(index, stream_, seed_);
}

double Random::uniform(std::uint64_t index) const {
  const Block x = bits(index);
  return unit(x[0], x[1]);
}

double Random::normal(std::uint64_t index) const {
  const Block x = bits(index);
  const double radius = std::sqrt(-2.0 * std::log(1.0 - unit(x[0], x[1])));  // 1 - u is in (0, 1]
  return radius * std::cos(2.0 * std::numbers::pi * unit(x[2], x[3]));
}

std::uint64_t Random::below(std::uint64_t index, std::uint64_t n) const {
  SLUICE_ASSERT(n > 0, "Random::below: n must be positive");
  // floor(r * n / 2^128) for a 128-bit r. Rejection would be exact but needs a second index; with this many
  // bits the bias is below 2^-64 for any n.
  const Block x = bits(index);
  const Uint128 carry = Uint128{join(x[0], x[1])} * n >> 64;
  return static_cast<std::uint64_t>((Uint128{join(x[2], x[3])} * n + carry) >> 64);
}

void Random::fill_uniform(std::span<float> out, std::uint64_t first_index, float lo, float hi) const {
  fill_uniform_as(*this, out, first_index, lo, hi);
}

void Random::fill_uniform(std::span<double> out, std::uint64_t first_index, double lo, double hi) const {
  fill_uniform_as(*this, out, first_index, lo, hi);
}

void Random::fill_normal(std::span<float> out, std::uint64_t first_index, float mean, float std) const {
  fill_normal_as(*this, out, first_index, mean, std);
}

void Random::fill_normal(std::span<double> out, std::uint64_t first_index, double mean, double std) const {
  fill_normal_as(*this, out, first_index, mean, std);
}

}  // namespace sluice
