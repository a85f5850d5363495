// What an ablation reads and checks before it runs anything.
#pragma once

#include <memory>

#include "sluice/ablate/ablation_texts.h"
#include "sluice/probe/calibration.h"

namespace sluice {

struct PreparedAblation {
  ModelConfig config = {};
  std::vector<PreparedText> texts = {};
  // Its first part. Until complete_plan() without what depends on what gates are: the sizes of controls of
  // open gates, and matched noise.
  AblationPlan plan = {};
  std::vector<LayerGates> gates = {};    // what complete_plan() has measured; empty without gates
  std::optional<uint32_t> weights = {};  // their checksum; none if it is not known
};

// Bad input that names the model and the text if the text is too short, usage error or bad input if the plan
// does not fit the model.
PreparedAblation prepare_ablation(const LoadedModel& model, const AblationRequest& request,
                                  const JobControl& control = {});

// How closed the gates of each layer are. Empty without gates.
std::vector<LayerGates> measure_gates(const LoadedModel& model, const ChunkedText& text,
                                      const JobControl& control = {});

// Measures gates, and makes the first part of the plan what will be run: with controls that are scaled as
// open gates scale, and with noise as large as what runs on layers and heads do (matched_noise.h). Nothing of
// it is guessed, so what is counted of the plan is what gets a verdict, and a file with the plan gives the
// same.
void complete_plan(PreparedAblation& prepared, const LoadedModel& model, const AblationRequest& request,
                   const JobControl& control = {});

// What a plan takes from a text of its own; null if it takes nothing.
std::shared_ptr<const Calibration> plan_calibration(const LoadedModel& model, const AblationPlan& plan,
                                                    const ChunkedText& text, const JobControl& control = {});

// How many runs of heads will follow the first part.
int64_t runs_to_come(const AblationPlan& plan, const ModelConfig& config);

// Everything about a model that gets a verdict, by its complete plan: on each text the runs, the differences
// between runs and their controls, and whether open gates bring the sink back; equal ones count once. Which
// heads follow is chosen by looking at the same text, so the heads of every layer that could be chosen count.
int64_t comparisons_of(const AblationRequest& request, const PreparedAblation& prepared);

// What the plan of an ungated model leaves out of the actions that were asked for; a remark for the user.
// Empty if there is nothing to say.
std::string left_out_words(const AblationRequest& request, const ModelConfig& config);

// A usage error for options that contradict each other or a text that can be read only once.
void check_ablation(const AblationRequest& request);

// Of one model and its texts, by its number.
void add_identity(JobIdentity& identity, size_t number, const PreparedAblation& prepared);

// Of what is the same for all models: what changes an evaluation, or when a run stops. What only the end of
// an ablation depends on (samples, estimates) may be another one when it is resumed. The instruction set is
// there because another one gives other last digits.
JobIdentity identity_of(const AblationRequest& request, const Engine& engine);

}  // namespace sluice
