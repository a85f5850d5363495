// How sure a figure over units is (chunks of a text, items of a task): the percentile bootstrap. The units
// are drawn anew, with replacement, as many as there are, and the figure is computed of each draw.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <vector>

namespace sluice {

struct Interval {
  double low = 0, high = 0;
};

// [low, high], or null if there is none.
nlohmann::ordered_json to_json(const std::optional<Interval>& interval);

struct BootstrapOptions {
  size_t resamples = 2000;
  uint64_t seed = 0;  // fixed: the same units give the same interval
};

// The figure of a draw, which names units by their indices and may name one several times. A figure of two
// results per unit, such as a difference, that looks up both at each index is a paired bootstrap.
using FigureOfDraw = std::function<double(std::span<const size_t> draw)>;

// 95 % interval; none of fewer than two units, which cannot differ, or if the figure of a draw is not finite.
std::optional<Interval> bootstrap(size_t units, const FigureOfDraw& figure,
                                  const BootstrapOptions& options = {});

// The same for several figures of the same units, whose draws are made once: each interval is bitwise that of
// bootstrap(). Empty of fewer than two units.
using FiguresOfDraw = std::function<std::vector<double>(std::span<const size_t> draw)>;
std::vector<std::optional<Interval>> bootstrap_all(size_t units, const FiguresOfDraw& figures,
                                                   const BootstrapOptions& options = {});

}  // namespace sluice
