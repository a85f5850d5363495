// A grid of variants: every combination of the values of a few keys.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sluice {

struct GridAxis {
  std::string key;  // of a configuration: "schedule.peak"
  std::vector<std::string> values;
};

// "schedule.peak=1e-3,3e-3". A usage error that begins with `where` if it has no key or an empty value, or a
// value twice.
GridAxis parse_grid_axis(std::string_view text, std::string_view where);

struct GridPoint {
  std::vector<std::string> changes;  // "schedule.peak=1e-3", one per axis
  std::string title = {};            // empty: the changes name it

  // For people and directories: "tiny-baseline,peak=1e-3". The key of a model says nothing that its value
  // does not.
  std::string name() const;
};

// The last axis varies fastest. Without axes there is one point without changes. A usage error if a key has
// two axes.
std::vector<GridPoint> grid_points(const std::vector<GridAxis>& axes);

}  // namespace sluice
