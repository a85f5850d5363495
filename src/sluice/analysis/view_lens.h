// What each layer of a view would predict if the model ended there: the logit lens at chosen positions. For
// whole texts, and what opening gates changes, see logit_lens.h.
#pragma once

#include <vector>

#include "sluice/analysis/view_predictions.h"

namespace sluice {

struct ViewLensLayer {
  int64_t layer = 0;
  std::vector<std::vector<PredictedToken>> top = {};  // the likeliest behind each position
  std::vector<float> surprise = {};                   // of the real next token, nats; NaN behind the last one
  double agreement = 0;                               // share of positions with the last layer's likeliest
};

struct ViewLensRequest {
  Range positions;
  size_t count = 1;  // of likeliest tokens, at least one
  Packing packing = Packing::Once;
};

// Usage error for positions that the prompt does not have.
std::vector<ViewLensLayer> view_lens(const LoadedModel& model, const PromptView& view,
                                     const ViewLensRequest& request, const JobControl& control = {});

}  // namespace sluice
