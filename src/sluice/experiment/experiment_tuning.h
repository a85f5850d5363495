// What another experiment found best on seeds of its own, a learning rate for instance, taken over by rule
// and not by hand.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sluice/experiment/experiment_result.h"

namespace sluice {

struct TriedCondition {
  ExperimentCondition condition;
  double at = 0;
  // Mean validation loss; none: not all of its seeds have ended and count. A mean over the survivors alone
  // would favour rates that kill.
  std::optional<double> loss = {};
};

// Of a variant, by their places on the axis.
std::vector<TriedCondition> tried_conditions(const ExperimentResult& result, const std::string& variant);

// The condition under which the first variant of a tuning experiment has the lowest mean validation loss, of
// those under which all of its runs count. Bad input if places on the axis are equal, if not all runs have
// ended, if there is no such condition, or if it has the lowest or the highest place of all: the best may lie
// beyond.
ExperimentCondition best_condition(const ExperimentResult& tuning);

}  // namespace sluice
