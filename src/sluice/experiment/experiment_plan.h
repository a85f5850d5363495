// What an experiment trains: its variants under its conditions, with equal numbers of parameters where that
// is asked.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/experiment/experiment.h"
#include "sluice/experiment/grid.h"

namespace sluice {

// Something that is trained with every seed.
struct PlannedVariant {
  GridPoint point;
  std::string variant, condition = {};  // names; no condition: empty
  double at = 0;                        // of the condition
  int64_t parameters = 0, steps = 0;
  int64_t sequence = 0, validation_sequences = 0;  // tokens of one; at most
  size_t reference = 0;                            // the place of what it is compared with
  // By intervention of the breaking plan: whether its model has all that is changed.
  std::vector<bool> can_be_given = {};
};

// Condition after condition, the variants of each in their order. Bad input for what would be found out only
// after hours (plan_checks.h), and for a number of parameters that no width gives.
std::vector<PlannedVariant> planned_variants(const Experiment& experiment);

// By its point's name; null if there is none.
const PlannedVariant* find_variant(std::span<const PlannedVariant> planned, std::string_view name);

}  // namespace sluice
