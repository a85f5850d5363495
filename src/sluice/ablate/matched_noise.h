// Noise as large as what a run does, as its control: if noise of the same size does as much harm, the harm is
// no sign that the gate matters.
//
// A run's change is measured on the calibration text, where it enters the residual stream: |change| /
// |stream| behind the attention of its layer, the root mean square over tokens. The control adds noise of
// that size to the stream there, in its own layer and in another one; of a run on one head, noise also goes
// into that head's output and into another head's, as large as gives the same change of the stream.
#pragma once

#include <span>
#include <vector>

#include "sluice/ablate/plan.h"
#include "sluice/base/job_control.h"
#include "sluice/infer/loaded_model.h"
#include "sluice/probe/calibration.h"

namespace sluice {

struct MatchedNoiseRequest {
  std::span<const std::vector<TokenId>> sequences;      // of the calibration text
  std::shared_ptr<const Calibration> calibration = {};  // of the plan's interventions, if they need one
  uint64_t seed = 0;                                    // of the noise, and of which other layer and head
};

// Appends the controls of the plan's runs on one layer or one head, of a shuffle for its first draw. Runs
// that leave the stream as it is get none.
void add_matched_noise(AblationPlan& plan, const LoadedModel& model, const MatchedNoiseRequest& request,
                       const JobControl& control = {});

// |change| / |stream| behind the attention of the layer, for interventions that begin no earlier than there.
double relative_change(const LoadedModel& model, std::span<const std::vector<TokenId>> sequences,
                       const std::vector<Intervention>& interventions, int64_t layer);

}  // namespace sluice
