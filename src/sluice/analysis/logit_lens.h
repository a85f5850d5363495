// What each layer would predict if the model ended there: its output through the final norm and the output
// layer. And how far opening the gates of that layer moves this.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "sluice/base/job_control.h"
#include "sluice/infer/loaded_model.h"
#include "sluice/probe/intervention.h"

namespace sluice {

struct LensLayer {
  int64_t layer = 0;
  std::vector<TokenId> likeliest = {};  // [T]: the next token by this layer
  std::vector<float> surprise = {};     // [T - 1]: of the real next token, nats
  double nll = 0;                       // their mean
  double agreement = 0;                 // share of tokens where it has the last layer's likeliest
  // Mean KL divergence from the prediction with this layer's gates at g1 set to 1; none without a gate.
  std::optional<double> moved = {};
};

struct LogitLens {
  std::vector<LensLayer> layers;
};

nlohmann::ordered_json to_json(const LogitLens& lens);

struct LensRequest {
  std::vector<TokenId> ids;  // at least two
  std::vector<Intervention> interventions = {};
};

LogitLens logit_lens(const LoadedModel& model, const LensRequest& request, const JobControl& control = {});

}  // namespace sluice
