#include "sluice/eval/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "sluice/base/assert.h"
#include "sluice/base/random.h"

namespace sluice {

nlohmann::ordered_json to_json(const std::optional<Interval>& interval) {
  if (!interval) return nullptr;
  return {interval->low, interval->high};
}

std::optional<Interval> bootstrap(size_t units, const FigureOfDraw& figure, const BootstrapOptions& options) {
  SLUICE_ASSERT(options.resamples > 0, "bootstrap: no resamples");
  if (units < 2) return {};
  const Random random(options.seed);
  std::vector<double> figures(options.resamples);
  std::vector<size_t> draw(units);
  for (size_t i = 0; i < figures.size(); ++i) {
    for (size_t j = 0; j < units; ++j) draw[j] = random.below(i * units + j, units);
    figures[i] = figure(draw);
    if (!std::isfinite(figures[i])) return {};  // some draws say nothing: no share of them is an interval
  }
  std::ranges::sort(figures);
  return Interval{.low = figures[figures.size() * 25 / 1000], .high = figures[figures.size() * 975 / 1000]};
}

}  // namespace sluice
