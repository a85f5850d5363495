// Σ p · (a - b): with p and a of one prediction and b of another, their divergence.
#pragma once

#include <array>
#include <numeric>
#include <span>

namespace sluice {

// With sums of their own for each of a few lanes: one sum would wait for itself at every step. What has no
// probability has no part, however far apart a and b are.
inline double weighted_difference(std::span<const float> p, std::span<const float> a,
                                  std::span<const float> b) {
  constexpr size_t kLanes = 16;
  std::array<double, kLanes> sums = {};
  const auto part = [&](size_t i) {
    return p[i] > 0 ? static_cast<double>(p[i]) * (static_cast<double>(a[i]) - b[i]) : 0.0;
  };
  size_t i = 0;
  for (; i + kLanes <= p.size(); i += kLanes)
    for (size_t lane = 0; lane < kLanes; ++lane) sums[lane] += part(i + lane);
  for (; i < p.size(); ++i) sums[0] += part(i);
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

}  // namespace sluice
