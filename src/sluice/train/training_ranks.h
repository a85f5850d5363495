// What a job on several ranks is asked before it begins.
#pragma once

#include "sluice/train/training.h"

namespace sluice {

// On all ranks alike: a usage error if there are more ranks than passes or sequences of a step, bad input if
// they do not have the same version, configuration or data.
void check_ranks(const Engine& engine, const TrainingJob& job);

// How many there are, and in which order they add up gradients.
void tell_ranks(const Engine& engine, const TrainingJob& job, const JobControl& control);

}  // namespace sluice
