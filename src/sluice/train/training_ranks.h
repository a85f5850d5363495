// What a job on several ranks is asked before it begins.
#pragma once

#include "sluice/train/training.h"

namespace sluice {

// On all ranks alike: a usage error if there are more ranks than passes or sequences of a step, or experts
// are to be spread that cannot be; bad input if they do not have the same version, configuration, tokenizer
// or data.
void check_ranks(const Engine& engine, const TrainingJob& job);

// How many there are, and in which order they add up gradients; of one alone, what has no effect on it.
void tell_ranks(const Engine& engine, const TrainingJob& job, const JobControl& control);

}  // namespace sluice
