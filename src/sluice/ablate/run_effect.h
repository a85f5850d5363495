// From what a run measured, chunk by chunk, to what it does.
#pragma once

#include <span>

#include "sluice/ablate/ablation.h"

namespace sluice {

struct EffectInput {
  std::span<const RunMeasures> broken;  // by round
  std::span<const RunMeasures> base;    // of these rounds, or of more
};

RunEffect effect_of(const EffectInput& input, const StoppingRule& rule);

// Holm's correction over all runs, texts and models. What the interval leaves undecided and the corrected
// test does not is decided by it.
void correct_for_many(AblationResult& result);

}  // namespace sluice
