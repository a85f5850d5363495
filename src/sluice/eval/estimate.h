// A figure and how sure it is.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "sluice/eval/bootstrap.h"

namespace sluice {

struct Estimate {
  double value = 0;
  std::optional<Interval> ci95 = {};  // none of fewer than two units

  bool operator==(const Estimate& other) const;
};

// Of all units, with the interval that drawing them anew gives.
Estimate estimate_of(size_t units, const FigureOfDraw& figure);

// Of samples that are alike and independent.
Estimate mean_of_samples(const std::vector<double>& samples);

nlohmann::ordered_json to_json(const Estimate& estimate);

}  // namespace sluice
