// Making plans: which runs answer which question, for a gated model and for its ungated twin.
//
// A gated model's runs change its gates. An ungated model has none, so the same questions are asked of what
// attention adds to the stream: closed becomes zeroed, a constant becomes a factor; open and inverted have no
// counterpart and are left out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/ablate/head_place.h"
#include "sluice/ablate/plan.h"
#include "sluice/probe/index_set.h"

namespace sluice {

// The groups that there are, in the order of a plan.
inline constexpr std::string_view kPlanGroups[] = {
    "global", "constants", "layers", "heads", "first-heads", "cumulative", "positions", "depth", "controls"};

// The words for what is done to a gate: open, closed, mean, head-mean, layer-mean, overall-mean, raised
// (to a mean of 1), shuffled, inverted.
struct PlanRequest {
  std::vector<std::string> groups = {"global", "constants", "layers"};
  std::vector<std::string> global_actions = {"open", "closed", "mean", "head-mean", "overall-mean"};
  std::vector<double> values = {0.116};  // of all gates, beside the actions: the mean that the paper gives
  std::vector<double> constants = {0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0};  // the seeds' sweep
  std::vector<std::string> layer_actions = {"open", "closed", "mean", "shuffled", "inverted"};
  std::vector<std::string> ungated_layer_actions = {};  // of a model without a gate; empty: the same
  IndexSet layers = {};                                 // of layers, cumulative and controls
  std::vector<std::string> head_actions = {"closed"};
  IndexSet head_layers = {};  // layers whose heads are run
  // Then the heads of so many layers that mattered most.
  int64_t layers_with_heads = 0;
  // Cumulative, positions and depth thirds.
  std::vector<std::string> set_actions = {"open", "closed"};
  std::vector<HeadPlace> head_ranking =
      {};             // cumulative: the first head closed, the first two, four, ..., all
  int64_t draws = 5;  // of every shuffle
  uint64_t seed = 0;  // of shuffles and of which tensor is a random control
  // Mean gate of each layer, for controls of open gates: another tensor is scaled by 1 / mean. None: those
  // controls are left out.
  std::vector<double> gate_means = {};
};

// The runs that were asked for. Usage error for an unknown group or action, for layers that the model does
// not have, for controls of nothing, for first heads where none is closed, or if nothing is left to do.
AblationPlan make_plan(const PlanRequest& request, const ModelConfig& config);

// The actions that were asked for and have no counterpart in this model, which has no gate: open, inverted.
std::vector<std::string> actions_left_out(const PlanRequest& request, const ModelConfig& config);

// The runs of its second part, if it is about these layers: of those that the group "layers" ranks. Runs that
// the plan has already are left out.
std::vector<PlannedRun> heads_that_follow(const AblationPlan& plan, const IndexSet& layers,
                                          const ModelConfig& config);

// The heads that it closes alone, in its order.
std::vector<HeadPlace> closed_heads(const AblationPlan& plan);

// The last part: the first head of a ranking closed, the first two, four and so on, and all of them.
std::vector<PlannedRun> first_heads(const std::vector<HeadPlace>& ranking, const ModelConfig& config);

// How many such runs there may be at most.
int64_t first_heads_to_come(const AblationPlan& plan, const ModelConfig& config);

// The tap of the gate that a plan changes: the one at g1, else the first that there is. None: ungated.
std::optional<std::string> gate_tap(const ModelConfig& config);

}  // namespace sluice
