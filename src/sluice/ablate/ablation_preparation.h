// What an ablation reads and checks before it runs anything.
#pragma once

#include <memory>

#include "sluice/ablate/ablation.h"
#include "sluice/probe/calibration.h"

namespace sluice {

// A text as one model sees it.
struct PreparedText {
  ChunkedText text;
  int64_t evaluated = 0;         // chunks: the first ones
  ChunkedText calibration = {};  // other tokens
  std::string calibration_name = {};
};

struct PreparedAblation {
  std::vector<PreparedText> texts;
  AblationPlan plan;  // its first part, without the controls that depend on what gates are
};

// Bad input that names the model and the text if the text is too short, usage error or bad input if the plan
// does not fit the model.
PreparedAblation prepare_ablation(const LoadedModel& model, const AblationRequest& request,
                                  const JobControl& control = {});

// How closed the gates of each layer are. Empty without gates.
std::vector<LayerGates> measure_gates(const LoadedModel& model, const ChunkedText& text,
                                      const JobControl& control = {});

// The first part as it is run, with controls that are scaled as open gates scale.
AblationPlan first_part(const AblationRequest& request, const PreparedAblation& prepared,
                        const std::vector<LayerGates>& gates, const ModelConfig& config);

// The same for whoever has not measured gates: they are, if there are such controls.
AblationPlan planned_first(const LoadedModel& model, const AblationRequest& request,
                           const PreparedAblation& prepared, const JobControl& control = {});

// What a plan takes from a text of its own; null if it takes nothing.
std::shared_ptr<const Calibration> plan_calibration(const LoadedModel& model, const AblationPlan& plan,
                                                    const ChunkedText& text, const JobControl& control = {});

// Noise as large as what runs on layers and heads do (matched_noise.h), if the request asks for controls.
void add_noise_controls(AblationPlan& plan, const LoadedModel& model, const AblationRequest& request,
                        const ChunkedText& text, const JobControl& control = {});

// The runs of the heads that follow the first part, if every layer had them: what all comparisons are counted
// with before it is known which layers it will be.
int64_t runs_to_come(const AblationRequest& request, const ModelConfig& config);

// Runs × texts of a model, those to come among them.
int64_t count_comparisons(const AblationRequest& request, const PreparedAblation& prepared,
                          const ModelConfig& config);

// A usage error for options that contradict each other or a text that can be read only once.
void check_ablation(const AblationRequest& request);

// Of one model and its texts, by its number.
void add_identity(AblationIdentity& identity, size_t number, const std::string& model,
                  const PreparedAblation& prepared);

// Of what is the same for all models.
AblationIdentity identity_of(const AblationRequest& request);

}  // namespace sluice
