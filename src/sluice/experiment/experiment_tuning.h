// What another experiment found best on seeds of its own, a learning rate for instance, taken over by rule
// and not by hand.
#pragma once

#include "sluice/experiment/experiment_result.h"

namespace sluice {

// The condition under which the first variant of a tuning experiment has the lowest mean validation loss. Bad
// input if not all of its runs have ended, or if it is the first or the last condition: the best may lie
// beyond.
const ExperimentCondition& best_condition(const ExperimentResult& tuning);

}  // namespace sluice
