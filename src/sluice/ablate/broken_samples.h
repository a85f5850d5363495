// What broken models write.
#pragma once

#include <memory>

#include "sluice/ablate/ablation.h"
#include "sluice/probe/calibration.h"

namespace sluice {

struct SampleRequest {
  std::optional<std::string> prompt = {};  // none: the first tokens of `beginning`
  std::vector<TokenId> beginning = {};
  int64_t tokens = 40;
  std::shared_ptr<const Calibration> calibration = {};
};

// The likeliest continuation by the unbroken model, by all runs that break the whole of it, and by the three
// that hurt the first text most among the others.
void add_broken_samples(AblatedModel& result, const LoadedModel& model, const SampleRequest& request,
                        const JobControl& control = {});

}  // namespace sluice
