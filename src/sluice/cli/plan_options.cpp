// Which runs there are, from --plan and the options beside it.
#include <algorithm>
#include <filesystem>

#include "sluice/base/error.h"
#include "sluice/cli/ablation_options.h"

namespace sluice::cli {
namespace {

constexpr int64_t kLayersWithHeads = 3;  // the seeds': those that matter most

std::vector<std::string> words_of(const std::string& list, const std::string& option) {
  std::vector<std::string> words;
  for (size_t at = 0; at <= list.size();) {
    const size_t comma = std::min(list.find(',', at), list.size());
    words.push_back(list.substr(at, comma - at));
    if (words.back().empty()) throw usage_error({.where = option, .what = "an empty word", .got = list});
    at = comma + 1;
  }
  return words;
}

bool asks_for(const PlanRequest& planned, std::initializer_list<std::string_view> groups) {
  return std::ranges::any_of(planned.groups, [&](const std::string& group) {
    return std::ranges::find(groups, group) != groups.end();
  });
}

bool names_action(const std::vector<std::string>& actions, std::string_view action) {
  return std::ranges::find(actions, action) != actions.end();
}

bool names_file(const std::string& plan) {
  std::error_code error;
  return plan.find('/') != std::string::npos || plan.ends_with(".json") ||
         std::filesystem::is_regular_file(plan, error);
}

}  // namespace

void PlanOptions::declare(Options& options) {
  options.text(
      {.name = "--plan",
       .value = "WORDS|FILE",
       .text = "What is broken: seeds (all gates, ten constants, each layer open, each head closed in "
               "the three layers that matter most), all, or some of global, constants, layers, heads, "
               "first-heads, cumulative, positions, depth, controls, with commas between; or a file as "
               "--print-plan writes it (default: seeds)"},
      plan);
  options.text({.name = "--layers",
                .value = "SET",
                .text = "Layers of the groups layers, cumulative and controls (default: all)"},
               layers);
  options.text(
      {.name = "--heads",
       .value = "SET|top",
       .text = "Layers whose heads are closed (--actions: or else) one at a time; top: the three that "
               "matter most"},
      heads);
  options.text(
      {.name = "--actions",
       .value = "WORDS",
       .text = "What is done to each layer, each head and sets of layers: open, closed, mean (of each "
               "channel), head-mean, layer-mean, overall-mean, raised, shuffled, inverted (default: layers "
               "open, closed, mean, shuffled, inverted, seeds: open, of several models also closed; heads "
               "closed; sets of layers "
               "open and closed)"},
      actions);
  options.integer({.name = "--draws",
                   .value = "N",
                   .text = "Draws of every shuffle (default: 5)",
                   .low = 1,
                   .high = 1000},
                  draws);
}

const char* PlanOptions::given() const {
  if (plan) return "--plan";
  return given_beside_plan();
}

const char* PlanOptions::given_beside_plan() const {
  const std::pair<const char*, bool> others[] = {{"--layers", layers.has_value()},
                                                 {"--heads", heads.has_value()},
                                                 {"--actions", actions.has_value()},
                                                 {"--draws", draws.has_value()}};
  for (const auto& [name, is_given] : others)
    if (is_given) return name;
  return nullptr;
}

void PlanOptions::apply_words(PlanRequest& planned, size_t models) const {
  planned.groups.clear();
  for (const std::string& word : words_of(plan.value_or("seeds"), "--plan")) {
    if (word == "seeds") {
      planned.groups.insert(planned.groups.end(), {"global", "constants", "layers"});
      // Several models are compared by what closing their layers does, which an ungated one has, too.
      planned.layer_actions = {"open"};
      if (models > 1) planned.layer_actions.emplace_back("closed");
      planned.ungated_layer_actions = {"closed"};
      planned.layers_with_heads = kLayersWithHeads;
    } else if (word == "all") {
      planned.groups.assign(std::begin(kPlanGroups), std::end(kPlanGroups));
    } else {
      planned.groups.push_back(word);
    }
  }
}

// What is done to layers is done to heads and to sets of layers, too.
void PlanOptions::apply_actions(PlanRequest& planned) const {
  if (actions) {
    planned.layer_actions = planned.head_actions = planned.set_actions = words_of(*actions, "--actions");
    planned.ungated_layer_actions.clear();
    if (!asks_for(planned, {"layers", "heads", "cumulative", "positions", "depth"}))
      throw usage_error(
          {.where = "--actions",
           .what = "is of layers, heads, cumulative, positions and depth, and the plan has none"});
    if (planned.layers_with_heads > 0 && names_action(planned.head_actions, "shuffled"))
      throw usage_error({.where = "--actions",
                         .what = "heads of the layers that matter most cannot be shuffled",
                         .hint = "--heads SET says which layers' can"});
    // Only heads that are closed are put in an order.
    if (plan == "all" && !names_action(planned.head_actions, "closed"))
      std::erase(planned.groups, "first-heads");
  }
  const bool shuffles = (asks_for(planned, {"layers"}) && names_action(planned.layer_actions, "shuffled")) ||
                        (asks_for(planned, {"heads"}) && names_action(planned.head_actions, "shuffled")) ||
                        (asks_for(planned, {"cumulative", "positions", "depth"}) &&
                         names_action(planned.set_actions, "shuffled"));
  if (draws && !shuffles)
    throw usage_error({.where = "--draws", .what = "is of shuffles, and the plan has none"});
  planned.draws = draws.value_or(planned.draws);
}

void PlanOptions::apply_heads(PlanRequest& planned) const {
  if (heads == "top") {
    planned.layers_with_heads = kLayersWithHeads;
    std::erase(planned.groups, "heads");
  } else if (heads) {
    planned.layers_with_heads = 0;
    planned.groups.emplace_back("heads");
    planned.head_layers = IndexSet::parse(*heads);
  }
  // All heads are there already: nothing is left to be added for the layers that matter most.
  if (asks_for(planned, {"heads"})) planned.layers_with_heads = 0;
  if (planned.layers_with_heads > 0 && !asks_for(planned, {"layers"}))
    throw usage_error(
        {.where = "--heads top", .what = "needs the group layers, which says what matters most"});
}

void PlanOptions::apply(AblationRequest& request) const {
  const std::pair<const char*, const std::optional<std::string>*> texts[] = {
      {"--plan", &plan}, {"--layers", &layers}, {"--heads", &heads}, {"--actions", &actions}};
  for (const auto& [name, text] : texts)
    if (*text && (*text)->empty()) throw usage_error({.where = name, .what = "is empty"});
  if (plan && names_file(*plan)) {
    if (const char* name = given_beside_plan())
      throw usage_error({.where = name, .what = "does not go with a plan's file, which says all of it"});
    request.plan_file = *plan;
    return;
  }
  apply_words(request.plan, request.models.size());
  if (layers) request.plan.layers = IndexSet::parse(*layers);
  apply_heads(request.plan);
  apply_actions(request.plan);
}

}  // namespace sluice::cli
