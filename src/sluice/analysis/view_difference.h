// Two views of the same tokens side by side: what a model and its broken copy, or two models, say
// differently.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sluice/analysis/view_predictions.h"

namespace sluice {

struct ChangedToken {
  int64_t position = 0;
  PredictedToken a = {}, b = {};  // what each finds likeliest behind it
};

struct ProbabilityChange {
  TokenId id = 0;
  double a = 0, b = 0;
};

struct ViewDifference {
  std::string why_not = {};     // predictions cannot be compared; empty: they can
  std::vector<double> kl = {};  // [T], nats: from a's prediction to b's
  double agreement = 0;         // share of positions with the same likeliest token
  std::vector<ChangedToken> changed = {};
  std::vector<ProbabilityChange> next = {};  // behind the last token, the largest change first

  double mean_kl() const;
};

// A model and what it made of the prompt.
struct ViewedModel {
  const LoadedModel& model;
  const PromptView& view;
  Packing packing = Packing::Once;
};

// The likeliest `count` tokens of either are looked at behind the last one.
ViewDifference compare_views(const ViewedModel& a, const ViewedModel& b, size_t count,
                             const JobControl& control = {});

}  // namespace sluice
