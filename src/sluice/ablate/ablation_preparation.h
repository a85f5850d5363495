// What an ablation reads and checks before it runs anything.
#pragma once

#include <memory>

#include "sluice/ablate/ablation_texts.h"
#include "sluice/probe/calibration.h"

namespace sluice {

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

// How many runs of heads will follow the first part.
int64_t runs_to_come(const AblationPlan& plan, const ModelConfig& config);

// Everything about a model that may get a verdict: on each text the runs, those that may follow among them,
// the differences between runs and their controls, and whether open gates bring the sink back. Which heads
// follow is chosen by looking at the same text, so the heads of every layer that could be chosen count.
int64_t comparisons_of(const AblationRequest& request, const PreparedAblation& prepared,
                       const ModelConfig& config);

// A usage error for options that contradict each other or a text that can be read only once.
void check_ablation(const AblationRequest& request);

// Of one model and its texts, by its number.
void add_identity(JobIdentity& identity, size_t number, const std::string& model,
                  const PreparedAblation& prepared);

// Of what is the same for all models. The instruction set, because another one gives other last digits.
JobIdentity identity_of(const AblationRequest& request, const Engine& engine);

}  // namespace sluice
