#include "sluice/ablate/plan_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "sluice/ablate/plan_target.h"
#include "sluice/base/error.h"
#include "sluice/base/suggest.h"

namespace sluice {
namespace {

bool asks_for(const PlanRequest& request, std::string_view group) {
  return std::ranges::find(request.groups, group) != request.groups.end();
}

void check_layers(const IndexSet& set, const ModelConfig& config) {
  if (set.largest() < config.layers) return;
  throw usage_error({.where = "plan",
                     .what = "the model does not have this layer",
                     .expected = fmt::format("0 to {}", config.layers - 1),
                     .got = std::to_string(set.largest())});
}

void check_request(const PlanRequest& request, const ModelConfig& config) {
  for (const std::string& group : request.groups) {
    if (std::ranges::find(kPlanGroups, group) != std::end(kPlanGroups)) continue;
    const std::vector<std::string> groups(std::begin(kPlanGroups), std::end(kPlanGroups));
    throw usage_error({.where = "plan",
                       .what = fmt::format("unknown group \"{:.40}\"", group),
                       .hint = did_you_mean(group, groups)});
  }
  check_layers(request.layers, config);
  check_layers(request.head_layers, config);
  if (asks_for(request, "controls") && !asks_for(request, "layers") && !asks_for(request, "heads"))
    throw usage_error(
        {.where = "plan", .what = "controls are of runs on layers or heads: add layers or heads"});
  if (request.draws < 1)
    throw usage_error({.where = "plan", .what = "at least one draw of a shuffle is needed"});
}

const std::vector<std::string>& layer_actions_for(const PlanRequest& request, const PlanTarget& target) {
  const bool others = !target.is_gated() && !request.ungated_layer_actions.empty();
  return others ? request.ungated_layer_actions : request.layer_actions;
}

// One function per group.
class PlanWriter {
 public:
  PlanWriter(const PlanRequest& request, const ModelConfig& config)
      : request_(request), config_(config), target_(config) {}

  AblationPlan write() {
    add("global", &PlanWriter::add_global);
    add("constants", &PlanWriter::add_constants);
    add("layers", &PlanWriter::add_layers);
    add("heads", &PlanWriter::add_heads);
    add("cumulative", &PlanWriter::add_cumulative);
    add("positions", &PlanWriter::add_positions);
    add("depth", &PlanWriter::add_depth);
    if (asks_for(request_, "controls")) {
      std::vector<PlannedRun> controls = tensor_controls(plan_, request_, config_);
      std::ranges::move(controls, std::back_inserter(plan_.runs));
    }
    return std::move(plan_);
  }

 private:
  void add(std::string_view group, void (PlanWriter::*generator)()) {
    if (!asks_for(request_, group)) return;
    group_ = group;
    (this->*generator)();
  }

  void add_run(PlannedRun run) {
    run.group = group_;
    plan_.runs.push_back(std::move(run));
  }

  // "NAME open"; a shuffle several times, "NAME shuffled 2". `changed` makes interventions of the change.
  template <class Changed>
  void add_action(const PlannedRun& about, const std::string& word, const Changed& changed) {
    const std::optional<std::string> action = target_.action_for(word);
    if (!action) return;
    const int64_t draws = *action == "shuffled" ? request_.draws : 1;
    for (int64_t draw = 0; draw < draws; ++draw) {
      PlannedRun run = about;
      run.action = *action;
      run.name += " " + *action;
      if (*action == "shuffled") run.name += fmt::format(" {}", draw + 1);
      run.interventions = changed(target_.change(*action, request_.seed + static_cast<uint64_t>(draw)));
      add_run(std::move(run));
    }
  }

  // The same change at one tap.
  void add_at(const PlannedRun& about, const std::string& word, const std::string& tap,
              const std::string& choice = "") {
    add_action(about, word,
               [&](const std::string& change) { return std::vector<std::string>{tap + change + choice}; });
  }

  void add_global() {
    for (const std::string& action : request_.global_actions) add_at({.name = "all"}, action, target_.tap());
    for (const double value : request_.values) {
      add_run({.name = "all " + number_text(value),
               .action = number_text(value),
               .interventions = {target_.tap() + target_.constant(value)}});
    }
  }

  void add_constants() {
    for (const double value : request_.constants) {
      add_run({.name = "constant " + number_text(value),
               .action = number_text(value),
               .interventions = {target_.tap() + target_.constant(value)}});
    }
  }

  std::vector<int64_t> chosen_layers(const IndexSet& set) const {
    std::vector<int64_t> layers;
    for (const int64_t layer : target_.layers())
      if (set.contains(layer)) layers.push_back(layer);
    return layers;
  }

  void add_layers() {
    for (const std::string& action : layer_actions_for(request_, target_))
      for (const int64_t layer : chosen_layers(request_.layers))
        add_at({.name = fmt::format("layer {}", layer), .layer = layer}, action, target_.tap({layer}));
  }

  void add_heads() {
    for (const std::string& action : request_.head_actions)
      for (const int64_t layer : chosen_layers(request_.head_layers))
        for (int64_t head = 0; head < target_.heads(); ++head)
          add_at({.name = fmt::format("layer {} head {}", layer, head), .layer = layer, .head = head}, action,
                 target_.head_tap(layer), fmt::format(" heads={}", head));
  }

  void add_cumulative() {
    const std::vector<int64_t> layers = chosen_layers(request_.layers);
    for (const std::string& action : request_.set_actions) {
      for (size_t count = 1; count <= layers.size(); ++count) {
        const std::vector<int64_t> first(layers.begin(), layers.begin() + static_cast<std::ptrdiff_t>(count));
        add_at({.name = "layers " + index_text(first)}, action, target_.tap(first));
      }
    }
    // Doubled each time, for a model may have hundreds.
    const size_t heads = request_.head_ranking.size();
    for (size_t count = 1; count < heads; count *= 2) add_first_heads(count);
    if (heads > 0) add_first_heads(heads);
  }

  void add_first_heads(size_t count) {
    std::map<int64_t, std::vector<int64_t>> heads;
    for (const HeadPlace& place : std::span(request_.head_ranking).first(count))
      heads[place.layer].push_back(place.head);
    add_action({.name = fmt::format("first {} heads", count)}, "closed", [&](const std::string& change) {
      std::vector<std::string> texts;
      for (auto& [layer, of_layer] : heads) {
        std::ranges::sort(of_layer);
        texts.push_back(fmt::format("{}{} heads={}", target_.head_tap(layer), change, index_text(of_layer)));
      }
      return texts;
    });
  }

  void add_positions() {
    for (const std::string& action : request_.set_actions) {
      add_at({.name = "first token"}, action, target_.tap(), " positions=0");
      add_at({.name = "other tokens"}, action, target_.tap(), " positions=1-");
    }
  }

  void add_depth() {
    constexpr const char* kThirds[] = {"first third", "middle third", "last third"};
    const std::vector<int64_t>& layers = target_.layers();
    for (const std::string& action : request_.set_actions) {
      for (size_t third = 0; third < 3; ++third) {
        const auto begin = layers.begin() + static_cast<std::ptrdiff_t>(layers.size() * third / 3);
        const auto end = layers.begin() + static_cast<std::ptrdiff_t>(layers.size() * (third + 1) / 3);
        if (begin == end) continue;
        add_at({.name = kThirds[third]}, action, target_.tap(std::vector<int64_t>(begin, end)));
      }
    }
  }

  const PlanRequest& request_;
  const ModelConfig& config_;
  PlanTarget target_;
  std::string_view group_;
  AblationPlan plan_;
};

void add_first_heads_later(AblationPlan& plan, const PlanRequest& request) {
  const bool closes = std::ranges::find(request.head_actions, "closed") != request.head_actions.end();
  if (closed_heads(plan).empty() && !(plan.then && closes))
    throw usage_error({.where = "plan",
                       .what = "first-heads orders heads by what closing each does, and none is closed",
                       .hint = "add heads"});
  if (!plan.then) plan.then = HeadsThatFollow{};
  plan.then->first_heads = true;
}

}  // namespace

AblationPlan make_plan(const PlanRequest& request, const ModelConfig& config) {
  check_request(request, config);
  AblationPlan plan = PlanWriter(request, config).write();
  // An ungated model may have no counterpart of what is done to layers.
  const int64_t ranked = std::ssize(ranked_layers(plan));
  if (request.layers_with_heads > 0 && ranked > 0)
    plan.then = HeadsThatFollow{.layers = std::min(request.layers_with_heads, ranked),
                                .actions = request.head_actions};
  if (asks_for(request, "first-heads")) add_first_heads_later(plan, request);
  if (plan.runs.empty())
    throw usage_error(
        {.where = "plan", .what = "nothing to do: what was asked for has no run in this model"});
  check_plan(plan, config);
  return plan;
}

std::vector<PlannedRun> heads_that_follow(const AblationPlan& plan, const IndexSet& layers,
                                          const ModelConfig& config) {
  if (!plan.then || plan.then->layers == 0) return {};
  const PlanRequest heads{.groups = {"heads"}, .head_actions = plan.then->actions, .head_layers = layers};
  std::vector<PlannedRun> runs = PlanWriter(heads, config).write().runs;
  const std::set<int64_t> ranked = ranked_layers(plan);
  std::erase_if(runs, [&](const PlannedRun& run) {
    return !ranked.contains(run.layer.value_or(-1)) || plan.find(run.name) != nullptr;
  });
  return runs;
}

std::vector<std::string> actions_left_out(const PlanRequest& request, const ModelConfig& config) {
  const PlanTarget target(config);
  std::vector<std::string> left_out;
  const auto look_at = [&](const std::vector<std::string>& actions, bool asked) {
    for (const std::string& action : actions)
      if (asked && !target.action_for(action) && std::ranges::find(left_out, action) == left_out.end())
        left_out.push_back(action);
  };
  const bool sets =
      asks_for(request, "cumulative") || asks_for(request, "positions") || asks_for(request, "depth");
  look_at(request.global_actions, asks_for(request, "global"));
  look_at(layer_actions_for(request, target), asks_for(request, "layers"));
  look_at(request.head_actions, asks_for(request, "heads") || request.layers_with_heads > 0);
  look_at(request.set_actions, sets);
  return left_out;
}

std::vector<HeadPlace> closed_heads(const AblationPlan& plan) {
  std::vector<HeadPlace> places;
  for (const PlannedRun& run : plan.runs)
    if (run.group == "heads" && run.layer && run.head && (run.action == "closed" || run.action == "zeroed"))
      places.push_back({*run.layer, *run.head});
  return places;
}

std::vector<PlannedRun> first_heads(const std::vector<HeadPlace>& ranking, const ModelConfig& config) {
  const PlanRequest request{.groups = {"cumulative"}, .set_actions = {}, .head_ranking = ranking};
  return PlanWriter(request, config).write().runs;
}

int64_t first_heads_to_come(const AblationPlan& plan, const ModelConfig& config) {
  if (!plan.then || !plan.then->first_heads) return 0;
  AblationPlan whole = plan;
  std::ranges::move(heads_that_follow(plan, {}, config), std::back_inserter(whole.runs));
  return std::ssize(first_heads(closed_heads(whole), config));
}

}  // namespace sluice
