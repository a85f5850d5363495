#include "sluice/eval/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "sluice/base/assert.h"
#include "sluice/base/random.h"

namespace sluice {
namespace {

// Where 95 % of the values lie.
std::optional<Interval> middle_of(std::vector<double>& values) {
  // Some draws say nothing: no share of them is an interval.
  if (!std::ranges::all_of(values, [](double value) { return std::isfinite(value); })) return {};
  std::ranges::sort(values);
  return Interval{.low = values[values.size() * 25 / 1000], .high = values[values.size() * 975 / 1000]};
}

}  // namespace

nlohmann::ordered_json to_json(const std::optional<Interval>& interval) {
  if (!interval) return nullptr;
  return {interval->low, interval->high};
}

std::vector<std::optional<Interval>> bootstrap_all(size_t units, const FiguresOfDraw& figures,
                                                   const BootstrapOptions& options) {
  SLUICE_ASSERT(options.resamples > 0, "bootstrap: no resamples");
  if (units < 2) return {};
  const Random random(options.seed);
  std::vector<std::vector<double>> drawn;  // by figure
  std::vector<size_t> draw(units);
  for (size_t i = 0; i < options.resamples; ++i) {
    for (size_t j = 0; j < units; ++j) draw[j] = random.below(i * units + j, units);
    const std::vector<double> values = figures(draw);
    drawn.resize(values.size());
    for (size_t figure = 0; figure < values.size(); ++figure) drawn[figure].push_back(values[figure]);
  }
  std::vector<std::optional<Interval>> intervals;
  for (std::vector<double>& values : drawn) intervals.push_back(middle_of(values));
  return intervals;
}

std::optional<Interval> bootstrap(size_t units, const FigureOfDraw& figure, const BootstrapOptions& options) {
  const auto one = [&](std::span<const size_t> draw) { return std::vector<double>{figure(draw)}; };
  const auto intervals = bootstrap_all(units, one, options);
  return intervals.empty() ? std::nullopt : intervals.front();
}

}  // namespace sluice
