// What is broken, one run at a time: each run is a list of interventions with a name. A plan is made by
// generators (ablate/plan_request.h) or read from a file; docs/plans.md describes the format.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/base/json.h"
#include "sluice/model/config.h"
#include "sluice/probe/intervention.h"

namespace sluice {

struct PlannedRun {
  std::string name = {};    // unique within the plan: "layer 3 open"
  std::string group = {};   // global, constants, layers, heads, cumulative, positions, depth, controls
  std::string action = {};  // open, closed, mean, shuffled, 0.15, zeroed, noise ...
  std::optional<int64_t> layer = {}, head = {};  // if it is about one
  std::vector<std::string> interventions = {};   // as --intervene takes them
  std::string control_of = {};                   // name of the run that it is a control for

  bool operator==(const PlannedRun&) const = default;
};

// Runs that are known only when the others are done: the heads of the layers that the group "layers" showed
// to matter most, on the first text; then heads together, in the order of what closing each did there.
struct HeadsThatFollow {
  int64_t layers = 0;                             // how many; 0: none
  std::vector<std::string> actions = {"closed"};  // what is done to each head, as plan_request.h names it
  bool first_heads = false;  // the first head of that order closed, the first two, four ...

  bool operator==(const HeadsThatFollow&) const = default;
};

struct AblationPlan {
  std::vector<PlannedRun> runs;
  std::optional<HeadsThatFollow> then = {};

  // Null if there is none.
  const PlannedRun* find(std::string_view name) const;

  bool operator==(const AblationPlan&) const = default;
};

// Whether it gets a verdict on the sink: does opening all gates bring it back?
bool asks_about_the_sink(const PlannedRun& run);

// The layers that a run of the group "layers" is about: those that can matter most.
std::set<int64_t> ranked_layers(const AblationPlan& plan);

// Bad input, with run and field, if a name is there twice, missing, "unbroken" or cannot be printed, a run
// changes nothing or is about a head of no layer, a control is of no run, the model does not have what is to
// be changed, or nothing says which heads follow. `source` is what the plan is called in errors.
void check_plan(const AblationPlan& plan, const ModelConfig& config, const std::string& source = "plan");

// Usage error if no chunk of so many tokens has a position that a run means.
void check_positions(const AblationPlan& plan, const ModelConfig& config, int64_t chunk_length);

// For each run the first that has the same interventions: itself, or one under another name. Such runs are
// measured once.
std::vector<size_t> equal_runs(const AblationPlan& plan);

// How many of them differ.
int64_t different_runs(const AblationPlan& plan);

// The interventions of each run. The plan has been checked.
std::vector<std::vector<Intervention>> parsed_runs(const AblationPlan& plan, const ModelConfig& config);

// All of them in a row: what a calibration has to serve.
std::vector<Intervention> all_interventions(const AblationPlan& plan, const ModelConfig& config);

nlohmann::ordered_json to_json(const PlannedRun& run);
nlohmann::ordered_json to_json(const AblationPlan& plan);

// Checked against the model. Bad input names run and field.
AblationPlan read_plan(const Json& json, const ModelConfig& config);
AblationPlan load_plan(const std::filesystem::path& path, const ModelConfig& config);

}  // namespace sluice
