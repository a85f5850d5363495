// Rows that lie in groups, one group after the other, and the pieces that threads share them out by.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sluice/base/threads.h"

namespace sluice {

struct RowGroups {
  std::vector<int64_t> starts = {0};  // [groups + 1]; an empty group begins where the next one does

  int64_t count() const { return static_cast<int64_t>(starts.size()) - 1; }
  int64_t total() const { return starts.back(); }
  Range rows(int64_t group) const {
    const auto g = static_cast<size_t>(group);
    return {starts[g], starts[g + 1]};
  }
};

// What one thread computes at once: some outputs of some rows of a group.
struct GroupUnit {
  int64_t group = 0;
  Range rows = {};  // counted from the group's first
  Range outputs = {};
};

// How a group is cut; by its shape alone, so that results are the same for any number of threads.
struct UnitSize {
  int64_t rows = 0, outputs = 0;
};

// Appends the units of one group.
inline void add_units(std::vector<GroupUnit>& units, int64_t group, const UnitSize& whole,
                      const UnitSize& step) {
  for (int64_t row = 0; row < whole.rows; row += step.rows) {
    for (int64_t output = 0; output < whole.outputs; output += step.outputs) {
      units.push_back({.group = group,
                       .rows = {row, std::min(row + step.rows, whole.rows)},
                       .outputs = {output, std::min(output + step.outputs, whole.outputs)}});
    }
  }
}

// Of all groups.
inline std::vector<GroupUnit> units_of(const RowGroups& groups, int64_t outputs, const UnitSize& step) {
  std::vector<GroupUnit> units;
  for (int64_t g = 0; g < groups.count(); ++g)
    add_units(units, g, {.rows = groups.rows(g).size(), .outputs = outputs}, step);
  return units;
}

}  // namespace sluice
