#include "sluice/eval/estimate.h"

#include <nlohmann/json.hpp>
#include <numeric>

namespace sluice {

bool Estimate::operator==(const Estimate& other) const {
  if (ci95.has_value() != other.ci95.has_value()) return false;
  const bool same_interval = !ci95 || (ci95->low == other.ci95->low && ci95->high == other.ci95->high);
  return value == other.value && same_interval;
}

Estimate estimate_of(size_t units, const FigureOfDraw& figure) {
  std::vector<size_t> all(units);
  std::iota(all.begin(), all.end(), size_t{0});
  return {.value = figure(all), .ci95 = bootstrap(units, figure)};
}

Estimate mean_of_samples(const std::vector<double>& samples) {
  return estimate_of(samples.size(), [&](std::span<const size_t> draw) {
    double sum = 0;
    for (const size_t i : draw) sum += samples[i];
    return sum / static_cast<double>(draw.size());
  });
}

nlohmann::ordered_json to_json(const Estimate& estimate) {
  return {{"value", estimate.value}, {"ci95", to_json(estimate.ci95)}};
}

}  // namespace sluice
