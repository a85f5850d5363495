// What the runs of an ablation say together: layers and heads beside each other, gates beside their controls.
// Runs are compared only on the chunks that all of them have: the first ones of every run.
#pragma once

#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "sluice/ablate/ablation.h"
#include "sluice/ablate/sensitivity.h"

namespace sluice {

// What was done to one layer, or to one head.
struct PlaceEffect {
  int64_t layer = 0;
  std::optional<int64_t> head = {};
  double nll = 0;                       // change per token; infinite if a likelihood was not finite
  double ppl = 0;                       // change of perplexity
  double nll_share = 0, ppl_share = 0;  // of the damage of all; what got better counts as none
  int64_t draws = 1;                    // a shuffle's are averaged
};

struct EffectProfile {
  std::string action;
  int64_t chunks = 0;                    // that all of them have
  std::vector<PlaceEffect> places = {};  // by layer and head

  bool is_empty() const { return places.empty(); }
};

// What was done in a group, in the plan's order.
std::vector<std::string> actions_of(const AblationPlan& plan, std::string_view group);

// Of the runs of a group and an action that are about one layer or head each. Empty if there are none.
EffectProfile effect_profile(const AblatedModel& model, const AblatedText& text, std::string_view group,
                             std::string_view action);

// The places by their effect, the worst first.
std::vector<PlaceEffect> ranked(const EffectProfile& profile);

// So many layers that matter most on the first text: opened, or what the plan does first to layers. Sorted by
// layer.
std::vector<int64_t> layers_by_effect(const AblatedModel& model, int64_t count);

// Whether layers whose gates are more closed (share below 0.1) are hurt more by an action.
struct LayerSensitivity {
  std::string action, text;
  int64_t chunks = 0;  // that all layers have
  std::vector<int64_t> layers = {};
  std::vector<double> closed = {}, nll = {};
  Sensitivity statistics = {};
};

// None without gates or without such runs.
std::optional<LayerSensitivity> layer_sensitivity(const AblatedModel& model, const AblatedText& text,
                                                  std::string_view action);

// Evaluations of a chunk: of runs that are equal one counts.
int64_t evaluations_made(const AblatedModel& model, const AblatedText& text);

// A run beside its control.
struct ControlPair {
  size_t run = 0, control = 0;  // of the plan
  int64_t chunks = 0;           // that both have
  double run_nll = 0, control_nll = 0;
  Estimate difference = {};               // the run's effect minus the control's, in pairs
  std::optional<Interval> sequence = {};  // of the difference: holds at every time of stopping and for all
};

// Of those whose likelihoods were finite.
std::vector<ControlPair> control_pairs(const AblatedModel& model, const AblatedText& text,
                                       const StoppingRule& rule);

// The mean of the draws of one shuffle, in chunks that all of them have; of one run its own effect. NaN if
// the likelihood of one was not finite.
Estimate mean_of_draws(const AblatedText& text, std::span<const size_t> runs);

// An action on a whole layer, or a control of it.
struct ControlledEffect {
  int64_t layer = 0;  // that the action is about
  std::string what;   // "gate" or "attention": the action itself; "mlp.out", "random", "noise" ...
  std::vector<size_t> runs = {};  // of the plan: draws of a shuffle
  Estimate nll = {};              // the mean of them
};

// Of layers that have controls, each with what was done to it first. Runs on heads have no part in it.
std::vector<ControlledEffect> controlled_layers(const AblatedModel& model, const AblatedText& text,
                                                std::string_view action);

// Estimates of an action beside what was measured, on the first text: of layers, or of heads.
struct EstimateComparison {
  std::string tap;     // of the gate: "attn.gate"
  std::string action;  // "open"
  EstimateMethod method = EstimateMethod::FirstOrder;
  bool of_heads = false;
  std::vector<PlaceEffect> places = {};
  std::vector<double> exact = {}, estimated = {};  // of each place, in nats per token
  EstimateAgreement agreement = {};
  int64_t chunks = 0;  // that the measured ones have in common
  // Of changing all gates at once: what estimates add up to, and what was measured, if it was.
  double all_estimated = 0;
  std::optional<double> all_exact = {};
};

// What a plan calls it: "closed" of close.
std::string_view action_in_plan(GateAction action);

// Of whatever is known both ways: estimates of a gate beside runs that change that gate.
std::vector<EstimateComparison> compare_estimates(const AblatedModel& model);

}  // namespace sluice
