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
  // Of each of these, 95 % bootstrap over chunks, for all places in the same draws; none of fewer than two
  // chunks, and of what is not finite.
  std::optional<Interval> nll_ci95 = {}, ppl_ci95 = {}, nll_share_ci95 = {}, ppl_share_ci95 = {};
  RunVerdict verdict = RunVerdict::Undecided;  // of its run; of several draws the one that all have
};

struct EffectProfile {
  std::string action;
  int64_t chunks = 0;                    // that all of them have
  std::vector<PlaceEffect> places = {};  // by layer and head

  bool is_empty() const { return places.empty(); }
};

// What was done in a group, in the plan's order.
std::vector<std::string> actions_of(const AblationPlan& plan, std::string_view group);

enum class ProfileIntervals { None, Bootstrap };

// Of the runs of a group and an action that are about one layer or head each. Empty if there are none.
EffectProfile effect_profile(const AblatedModel& model, const AblatedText& text, std::string_view group,
                             std::string_view action, ProfileIntervals intervals = ProfileIntervals::None);

// What it is called that nothing of a layer's attention comes through: what a gated model and its ungated
// twin can be compared by.
const char* removal_of(const AblatedModel& model);

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
  std::vector<std::optional<Interval>> nll_ci95 = {};
  Sensitivity statistics = {};
};

// None without gates or without such runs.
std::optional<LayerSensitivity> layer_sensitivity(const AblatedModel& model, const AblatedText& text,
                                                  std::string_view action);

// Evaluations of a chunk: of runs that are equal one counts.
int64_t evaluations_made(const AblatedModel& model, const AblatedText& text);

// As many as there are if no run rests: what an exhaustive ablation makes.
int64_t evaluations_there(const AblatedModel& model, const AblatedText& text);

// Runs that are another one under a second name.
int64_t equal_run_count(const AblatedModel& model);

// A run beside its control.
struct ControlPair {
  size_t run = 0, control = 0;  // of the plan
  int64_t chunks = 0;           // that both have
  double run_nll = 0, control_nll = 0;
  Estimate difference = {};               // the run's effect minus the control's, in pairs
  std::optional<Interval> sequence = {};  // of the difference: holds at every time of stopping and for all
  RunVerdict verdict = RunVerdict::Undecided;  // worse: the run does more damage than its control
};

// Of those whose likelihoods were finite.
std::vector<ControlPair> control_pairs(const AblatedModel& model, const AblatedText& text,
                                       const StoppingRule& rule);

// The mean of the draws of one shuffle, in chunks that all of them have; of one run its own effect. NaN if
// the likelihood of one was not finite.
Estimate mean_of_draws(const AblatedText& text, std::span<const size_t> runs);

// "mlp.out" of "layer 3 closed / mlp.out". What is drawn at random is of one kind, wherever it is.
std::string kind_of_control(const PlannedRun& control);

// An action on a whole layer or on a head, or a control of it.
struct ControlledEffect {
  int64_t layer = 0;                 // that the action is about
  std::optional<int64_t> head = {};  // if it is about one
  std::string what;  // "gate" or "attention": the action itself; "mlp.out", "random", "noise" ...
  std::vector<size_t> runs = {};  // of the plan: draws of a shuffle
  Estimate nll = {};              // the mean of them
};

// Of the layers or heads ("layers", "heads") that have controls, each with what was done to it first.
std::vector<ControlledEffect> controlled_effects(const AblatedModel& model, const AblatedText& text,
                                                 std::string_view group, std::string_view action);

// Estimates of an action beside what was measured, on the first text: of layers, or of heads.
struct EstimateComparison {
  std::string tap;     // of the gate: "attn.gate"
  std::string action;  // "open"
  EstimateMethod method = EstimateMethod::FirstOrder;
  bool of_heads = false;
  std::vector<PlaceEffect> places = {};
  std::vector<double> exact = {}, estimated = {};  // of each place, in nats per token
  std::vector<std::optional<Interval>> estimated_ci95 = {};
  EstimateAgreement agreement = {};
  int64_t chunks = 0;  // that the measured ones have in common
  // Of changing all gates at once: what estimates add up to, and what was measured on the same chunks, if it
  // was.
  double all_estimated = 0;
  std::optional<double> all_exact = {};
  int64_t steps = 0;  // of integrated gradients

  // Integrated gradients add up to the joint change but for the error of their steps: by which share of it
  // they miss it. None of first order, and where the joint change was not run.
  std::optional<double> missing_share() const;
};

// Beyond this share of the joint change, shares of it want more steps.
inline constexpr double kMostMissing = 0.1;

// What a plan calls it: "closed" of close.
std::string_view action_in_plan(GateAction action);

// Of whatever is known both ways: estimates of a gate beside runs that change that gate.
std::vector<EstimateComparison> compare_estimates(const AblatedModel& model);

}  // namespace sluice
