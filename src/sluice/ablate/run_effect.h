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

}  // namespace sluice
