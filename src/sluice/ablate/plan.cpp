#include "sluice/ablate/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "sluice/ablate/plan_target.h"
#include "sluice/base/error.h"

namespace sluice {
namespace {

Error bad_run(const std::string& source, const PlannedRun& run, ErrorReport report) {
  report.where = report.where.empty() ? fmt::format("run \"{:.60}\"", run.name)
                                      : fmt::format("run \"{:.60}\": {}", run.name, report.where);
  return bad_input(std::move(report)).inside(source);
}

void check_interventions(const PlannedRun& run, const ModelConfig& config, const std::string& source) {
  if (run.interventions.empty())
    throw bad_run(source, run, {.where = "interventions", .what = "there are none"});
  for (const std::string& text : run.interventions) try {
      parse_intervention(text, config);
    } catch (const Error& error) {
      throw bad_run(source, run, error.report());
    }
}

void check_index(const PlannedRun& run, std::optional<int64_t> index, int64_t count, const char* field,
                 const std::string& source) {
  if (!index || (0 <= *index && *index < count)) return;
  throw bad_run(source, run,
                {.where = field,
                 .what = fmt::format("the model has no such {}", field),
                 .expected = fmt::format("0 to {}", count - 1),
                 .got = std::to_string(*index)});
}

void check_then(const AblationPlan& plan, const ModelConfig& config, const std::string& source) {
  if (!plan.then) return;
  const auto refuse = [&](ErrorReport report) { return bad_input(std::move(report)).inside(source); };
  if (plan.then->layers < 0 || (plan.then->layers == 0 && !plan.then->first_heads))
    throw refuse({.where = "then", .what = "the heads of no layer", .expected = "1 or more"});
  const bool closes = std::ranges::find(plan.then->actions, "closed") != plan.then->actions.end();
  if (plan.then->first_heads && closed_heads(plan).empty() && (plan.then->layers == 0 || !closes))
    throw refuse({.where = "then: first_heads", .what = "no head is closed alone, so none can come first"});
  if (plan.then->actions.empty()) throw refuse({.where = "then", .what = "there are no actions"});
  for (const std::string& action : plan.then->actions) {
    // Its draws would need a seed and a number of their own.
    if (action == "shuffled")
      throw refuse({.where = "then: actions", .what = "heads that follow cannot be shuffled"});
    try {
      (void)PlanTarget(config).action_for(action);
    } catch (const Error& error) {
      ErrorReport report = error.report();
      report.where = "then: actions";
      throw refuse(std::move(report));
    }
  }
  const int64_t ranked = std::ssize(ranked_layers(plan));
  if (plan.then->layers > 0 && ranked == 0)
    throw refuse(
        {.where = "then", .what = "no run of the group layers is about one layer, so none can matter most"});
  if (plan.then->layers > ranked)
    throw refuse({.where = "then: heads_of_top_layers",
                  .what = "the group layers is not about so many",
                  .expected = fmt::format("1 to {}", ranked),
                  .got = std::to_string(plan.then->layers)});
}

void check_words(const PlannedRun& run, const std::string& source) {
  if (run.name.empty()) throw bad_run(source, run, {.where = "name", .what = "is empty"});
  if (run.name == "unbroken")
    throw bad_run(source, run, {.where = "name", .what = "is what the model itself is called"});
  const std::pair<const char*, const std::string*> words[] = {
      {"name", &run.name}, {"group", &run.group}, {"action", &run.action}};
  for (const auto& [field, word] : words) {
    const auto is_control = [](char each) { return static_cast<unsigned char>(each) < 0x20 || each == 0x7f; };
    if (!std::ranges::any_of(*word, is_control)) continue;
    PlannedRun shown = run;  // its name goes into the message
    std::ranges::replace_if(shown.name, is_control, '?');
    throw bad_run(source, shown, {.where = field, .what = "has a control character in it"});
  }
  if (run.group == "heads" && !run.head)
    throw bad_run(source, run, {.where = "head", .what = "is missing: heads are ranked by it"});
  if (run.head && !run.layer)
    throw bad_run(source, run, {.where = "head", .what = "of which layer? give layer, too"});
}

}  // namespace

const PlannedRun* AblationPlan::find(std::string_view name) const {
  const auto found = std::ranges::find(runs, name, &PlannedRun::name);
  return found == runs.end() ? nullptr : &*found;
}

bool asks_about_the_sink(const PlannedRun& run) {
  return run.group == "global" && run.action == "open";
}

std::set<int64_t> ranked_layers(const AblationPlan& plan) {
  std::set<int64_t> layers;
  for (const PlannedRun& run : plan.runs)
    if (run.group == "layers" && run.layer) layers.insert(*run.layer);
  return layers;
}

void check_plan(const AblationPlan& plan, const ModelConfig& config, const std::string& source) {
  if (plan.runs.empty()) throw bad_input({.where = source, .what = "there are no runs in it"});
  std::set<std::string_view> names;
  for (const PlannedRun& run : plan.runs) {
    check_words(run, source);
    if (!names.insert(run.name).second)
      throw bad_run(source, run, {.where = "name", .what = "is there twice"});
  }
  for (const PlannedRun& run : plan.runs) {
    check_index(run, run.layer, config.layers, "layer", source);
    check_index(run, run.head, config.heads, "head", source);
    check_interventions(run, config, source);
    if (!run.control_of.empty() && (!names.contains(run.control_of) || run.control_of == run.name)) {
      throw bad_run(source, run,
                    {.where = "control_of",
                     .what = "no other run has this name",
                     .got = fmt::format("\"{:.60}\"", run.control_of)});
    }
  }
  check_then(plan, config, source);
}

void check_positions(const AblationPlan& plan, const ModelConfig& config, int64_t chunk_length) {
  for (const PlannedRun& run : plan.runs) {
    for (const std::string& text : run.interventions) {
      const Intervention intervention = parse_intervention(text, config);
      bool met = false;
      // The last token of a chunk is never fed.
      for (int64_t position = 0; position < chunk_length - 1 && !met; ++position)
        met = intervention.positions.contains(position);
      if (met) continue;
      throw usage_error({.where = fmt::format("run \"{:.60}\": intervention \"{:.80}\"", run.name, text),
                         .what = "no token of the text has such a position",
                         .expected = fmt::format("below {}", chunk_length - 1)});
    }
  }
}

std::vector<size_t> equal_runs(const AblationPlan& plan) {
  std::map<std::vector<std::string>, size_t> first;
  std::vector<size_t> equal;
  for (size_t i = 0; i < plan.runs.size(); ++i)
    equal.push_back(first.try_emplace(plan.runs[i].interventions, i).first->second);
  return equal;
}

int64_t different_runs(const AblationPlan& plan) {
  const std::vector<size_t> equal = equal_runs(plan);
  return std::ssize(std::set<size_t>(equal.begin(), equal.end()));
}

std::vector<std::vector<Intervention>> parsed_runs(const AblationPlan& plan, const ModelConfig& config) {
  std::vector<std::vector<Intervention>> runs;
  for (const PlannedRun& run : plan.runs) runs.push_back(parse_interventions(run.interventions, config));
  return runs;
}

std::vector<Intervention> all_interventions(const AblationPlan& plan, const ModelConfig& config) {
  std::vector<Intervention> all;
  for (const std::vector<Intervention>& run : parsed_runs(plan, config))
    all.insert(all.end(), run.begin(), run.end());
  return all;
}

nlohmann::ordered_json to_json(const PlannedRun& run) {
  nlohmann::ordered_json json = {{"name", run.name}, {"group", run.group}, {"action", run.action}};
  if (run.layer) json["layer"] = *run.layer;
  if (run.head) json["head"] = *run.head;
  json["interventions"] = run.interventions;
  if (!run.control_of.empty()) json["control_of"] = run.control_of;
  return json;
}

nlohmann::ordered_json to_json(const AblationPlan& plan) {
  nlohmann::ordered_json runs = nlohmann::ordered_json::array();
  for (const PlannedRun& run : plan.runs) runs.push_back(to_json(run));
  nlohmann::ordered_json json = {{"runs", std::move(runs)}};
  if (plan.then && plan.then->layers > 0)
    json["then"] = {{"heads_of_top_layers", plan.then->layers}, {"actions", plan.then->actions}};
  if (plan.then && plan.then->first_heads) json["then"]["first_heads"] = true;
  return json;
}

AblationPlan read_plan(const Json& json, const ModelConfig& config) {
  json.allow_keys({"runs", "then"});
  AblationPlan plan;
  const auto index_of = [](const Json& run, const char* key) -> std::optional<int64_t> {
    if (!run.contains(key)) return {};
    return run.integer(key, {.min = 0});
  };
  for (const Json& each : json.at("runs").array()) {
    each.allow_keys({"name", "group", "action", "layer", "head", "interventions", "control_of"});
    PlannedRun run{.name = each.text("name"),
                   .group = each.text_or("group", "own"),
                   .action = each.text_or("action", ""),
                   .layer = index_of(each, "layer"),
                   .head = index_of(each, "head"),
                   .interventions = {},
                   .control_of = each.text_or("control_of", "")};
    for (const Json& text : each.at("interventions").array()) run.interventions.push_back(text.text());
    plan.runs.push_back(std::move(run));
  }
  if (json.contains("then")) {
    const Json then = json.at("then");
    then.allow_keys({"heads_of_top_layers", "actions", "first_heads"});
    plan.then = HeadsThatFollow{};
    if (then.contains("first_heads")) plan.then->first_heads = then.boolean("first_heads");
    if (!plan.then->first_heads || then.contains("heads_of_top_layers"))
      plan.then->layers = then.integer("heads_of_top_layers", {.min = 1});
    if (then.contains("actions")) {
      plan.then->actions.clear();
      for (const Json& action : then.at("actions").array()) plan.then->actions.push_back(action.text());
    }
  }
  check_plan(plan, config, json.where());
  return plan;
}

AblationPlan load_plan(const std::filesystem::path& path, const ModelConfig& config) {
  return read_plan(Json::load(path), config);
}

}  // namespace sluice
