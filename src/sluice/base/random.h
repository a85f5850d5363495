// Counter-based random numbers: Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
// SC 2011). A number is a pure function of (seed, stream, index), so any split over threads gives the same
// numbers.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace sluice {

class Random {
 public:
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0) : seed_(seed), stream_(stream) {}

  std::uint64_t seed() const { return seed_; }
  std::uint64_t stream() const { return stream_; }

  // Another stream of the same seed; children of different streams or ids are independent.
  Random child(std::uint64_t id) const;

  std::array<std::uint32_t, 4> bits(std::uint64_t index) const;

  // In [0, 1).
  double uniform(std::uint64_t index) const;

  // Mean 0, standard deviation 1.
  double normal(std::uint64_t index) const;

  // In [0, n); n > 0.
  std::uint64_t below(std::uint64_t index, std::uint64_t n) const;

  // Element i depends on first_index + i alone. Uniform values are in [lo, hi) also after rounding.
  void fill_uniform(std::span<float> out, std::uint64_t first_index, float lo, float hi) const;
  void fill_uniform(std::span<double> out, std::uint64_t first_index, double lo, double hi) const;
  void fill_normal(std::span<float> out, std::uint64_t first_index, float mean, float std) const;
  void fill_normal(std::span<double> out, std::uint64_t first_index, double mean, double std) const;

 private:
  std::uint64_t seed_;
  std::uint64_t stream_;
};

}  // namespace sluice
