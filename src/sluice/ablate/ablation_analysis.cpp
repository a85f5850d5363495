#include "sluice/ablate/ablation_analysis.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace sluice {
namespace {

double mean_of_first(const std::vector<double>& values, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += values[static_cast<size_t>(i)];
  return sum / static_cast<double>(count);
}

using RunIndices = std::vector<size_t>;

// Runs of a group and an action that are about one layer or head each.
RunIndices runs_about(const AblatedModel& model, const AblatedText& text, std::string_view group,
                      std::string_view action) {
  RunIndices runs;
  for (size_t i = 0; i < text.effects.size(); ++i) {
    const PlannedRun& run = model.plan.runs[i];
    if (run.group == group && run.action == action && run.layer) runs.push_back(i);
  }
  return runs;
}

// Whether it changes nothing but this tap: "layers.3.attn.gate set=1" is at "attn.gate".
bool is_at_tap(const PlannedRun& run, const std::string& tap) {
  return !run.interventions.empty() && std::ranges::all_of(run.interventions, [&](const std::string& text) {
    const std::string_view place = std::string_view(text).substr(0, text.find(' '));
    return place == tap || (place.starts_with("layers.") && place.ends_with("." + tap));
  });
}

// Chunks that all of the runs have; those that were not finite have no say.
int64_t common_chunks(const AblatedText& text, const RunIndices& runs) {
  int64_t common = std::ssize(text.base_by_chunk);
  for (const size_t run : runs)
    if (text.effects[run].finite) common = std::min(common, text.effects[run].chunks);
  return common;
}

void add_shares(EffectProfile& profile) {
  double nll = 0, ppl = 0;
  for (const PlaceEffect& place : profile.places) {
    nll += std::max(place.nll, 0.0);
    ppl += std::max(place.ppl, 0.0);
  }
  // Of damage beyond all numbers there are no shares.
  const auto share = [](double part, double sum) {
    if (!std::isfinite(sum)) return std::numeric_limits<double>::quiet_NaN();
    return sum > 0 ? std::max(part, 0.0) / sum : 0.0;
  };
  for (PlaceEffect& place : profile.places) {
    place.nll_share = share(place.nll, nll);
    place.ppl_share = share(place.ppl, ppl);
  }
}

EffectProfile profile_of(const AblatedModel& model, const AblatedText& text, const RunIndices& runs,
                         std::string_view action) {
  EffectProfile profile{.action = std::string(action), .chunks = common_chunks(text, runs)};
  std::map<std::pair<int64_t, int64_t>, std::vector<double>> effects;  // by layer and head, of each draw
  for (const size_t i : runs) {
    const PlannedRun& run = model.plan.runs[i];
    const RunEffect& effect = text.effects[i];
    effects[{*run.layer, run.head.value_or(-1)}].push_back(
        effect.finite ? mean_of_first(effect.by_chunk, profile.chunks)
                      : std::numeric_limits<double>::infinity());
  }
  const double base = std::exp(mean_of_first(text.base_by_chunk, profile.chunks));
  for (const auto& [place, draws] : effects) {
    PlaceEffect effect{.layer = place.first, .draws = std::ssize(draws)};
    if (place.second >= 0) effect.head = place.second;
    effect.nll = mean_of_first(draws, effect.draws);
    effect.ppl = base * std::expm1(effect.nll);
    profile.places.push_back(effect);
  }
  add_shares(profile);
  return profile;
}

// "mlp.out" of "layer 3 closed / mlp.out". What is drawn at random is of one kind, wherever it is.
std::string kind_of_control(const PlannedRun& control) {
  const size_t slash = control.name.find(" / ");
  const std::string kind = slash == std::string::npos ? control.action : control.name.substr(slash + 3);
  if (kind.starts_with("noise in layer ")) return "noise in another layer";
  return kind.substr(0, kind.find(':'));
}

EstimateComparison beside(const ActionEstimates& estimates, const EffectProfile& profile) {
  EstimateComparison comparison{.tap = estimates.tap,
                                .action = profile.action,
                                .method = estimates.method,
                                .chunks = profile.chunks,
                                .all_estimated = estimates.all.nll};
  std::vector<ExactEffect> exact;
  for (const PlaceEffect& place : profile.places) {
    const EstimatedEffect* estimate = estimates.find(place.layer, place.head);
    if (estimate == nullptr || !std::isfinite(place.nll)) continue;
    comparison.places.push_back(place);
    comparison.exact.push_back(place.nll);
    comparison.estimated.push_back(estimate->nll);
    exact.push_back({.layer = place.layer, .head = place.head, .nll = place.nll});
  }
  const bool heads = !profile.is_empty() && profile.places.front().head;
  comparison.agreement = heads ? head_agreement(estimates, exact) : layer_agreement(estimates, exact);
  return comparison;
}

// What it did to change all gates of a tap at once, if that was run.
std::optional<double> measured_at_once(const AblatedModel& model, const std::string& tap,
                                       std::string_view action) {
  const std::vector<RunEffect>& effects = model.texts.front().effects;
  for (size_t i = 0; i < effects.size(); ++i) {
    const PlannedRun& run = model.plan.runs[i];
    if (run.group == "global" && run.action == action && is_at_tap(run, tap) && effects[i].finite)
      return effects[i].nll.value;
  }
  return {};
}

}  // namespace

std::string_view action_in_plan(GateAction action) {
  return action == GateAction::Close ? "closed" : name_of(action);
}

std::vector<std::string> actions_of(const AblationPlan& plan, std::string_view group) {
  std::vector<std::string> actions;
  for (const PlannedRun& run : plan.runs)
    if (run.group == group && std::ranges::find(actions, run.action) == actions.end())
      actions.push_back(run.action);
  return actions;
}

EffectProfile effect_profile(const AblatedModel& model, const AblatedText& text, std::string_view group,
                             std::string_view action) {
  return profile_of(model, text, runs_about(model, text, group, action), action);
}

std::vector<PlaceEffect> ranked(const EffectProfile& profile) {
  std::vector<PlaceEffect> places = profile.places;
  std::ranges::stable_sort(places, std::ranges::greater{}, &PlaceEffect::nll);
  return places;
}

std::vector<int64_t> layers_by_effect(const AblatedModel& model, int64_t count) {
  const std::vector<std::string> actions = actions_of(model.plan, "layers");
  std::vector<int64_t> layers;
  if (actions.empty()) return layers;
  const bool opened = std::ranges::find(actions, "open") != actions.end();
  for (const PlaceEffect& place :
       ranked(effect_profile(model, model.texts.front(), "layers", opened ? "open" : actions.front())))
    if (std::ssize(layers) < count) layers.push_back(place.layer);
  std::ranges::sort(layers);
  return layers;
}

std::optional<LayerSensitivity> layer_sensitivity(const AblatedModel& model, const AblatedText& text,
                                                  std::string_view action) {
  const EffectProfile profile = effect_profile(model, text, "layers", action);
  LayerSensitivity result{.action = profile.action, .text = text.name, .chunks = profile.chunks};
  for (const PlaceEffect& place : profile.places) {
    const auto gates = std::ranges::find(model.gates, place.layer, &LayerGates::layer);
    if (gates == model.gates.end() || !std::isfinite(place.nll)) continue;
    result.layers.push_back(place.layer);
    result.closed.push_back(gates->closed);
    result.nll.push_back(place.nll);
  }
  if (result.layers.empty()) return {};
  result.statistics = sensitivity(result.closed, result.nll);
  return result;
}

std::vector<EstimateComparison> compare_estimates(const AblatedModel& model) {
  std::vector<EstimateComparison> comparisons;
  if (!model.estimates || model.texts.front().effects.empty()) return comparisons;
  for (const ActionEstimates& estimates : model.estimates->estimates) {
    for (const std::string_view group : {"layers", "heads"}) {
      const std::string_view action = action_in_plan(estimates.action);
      RunIndices runs = runs_about(model, model.texts.front(), group, action);
      std::erase_if(runs, [&](size_t run) { return !is_at_tap(model.plan.runs[run], estimates.tap); });
      EstimateComparison comparison = beside(estimates, profile_of(model, model.texts.front(), runs, action));
      comparison.of_heads = group == "heads";
      comparison.all_exact = measured_at_once(model, estimates.tap, action);
      if (!comparison.places.empty()) comparisons.push_back(std::move(comparison));
    }
  }
  return comparisons;
}

int64_t evaluations_made(const AblatedModel& model, const AblatedText& text) {
  const std::vector<size_t> equal = equal_runs(model.plan);
  int64_t made = 0;
  for (size_t i = 0; i < text.effects.size(); ++i)
    if (equal[i] == i) made += text.effects[i].chunks;
  return made;
}

std::vector<ControlPair> control_pairs(const AblatedModel& model, const AblatedText& text,
                                       const StoppingRule& rule) {
  std::vector<ControlPair> pairs;
  const std::vector<PlannedRun>& runs = model.plan.runs;
  for (size_t control = 0; control < text.effects.size(); ++control) {
    if (runs[control].control_of.empty()) continue;
    const auto found = std::ranges::find(runs, runs[control].control_of, &PlannedRun::name);
    const auto run = static_cast<size_t>(found - runs.begin());
    const RunEffect &broken = text.effects[run], &other = text.effects[control];
    if (!broken.finite || !other.finite) continue;
    ControlPair pair{.run = run, .control = control, .chunks = std::min(broken.chunks, other.chunks)};
    std::vector<double> differences;
    for (int64_t i = 0; i < pair.chunks; ++i)
      differences.push_back(broken.by_chunk[static_cast<size_t>(i)] - other.by_chunk[static_cast<size_t>(i)]);
    pair.run_nll = mean_of_first(broken.by_chunk, pair.chunks);
    pair.control_nll = mean_of_first(other.by_chunk, pair.chunks);
    pair.difference = mean_of_samples(differences);
    pair.sequence = simultaneous_interval(differences, rule);
    pairs.push_back(pair);
  }
  return pairs;
}

Estimate mean_of_draws(const AblatedText& text, std::span<const size_t> runs) {
  int64_t chunks = std::ssize(text.base_by_chunk);
  for (const size_t run : runs) {
    if (!text.effects[run].finite) return {.value = std::numeric_limits<double>::quiet_NaN()};
    chunks = std::min(chunks, text.effects[run].chunks);
  }
  std::vector<double> means(static_cast<size_t>(chunks));
  for (const size_t run : runs)
    for (size_t i = 0; i < means.size(); ++i)
      means[i] += text.effects[run].by_chunk[i] / static_cast<double>(runs.size());
  return mean_of_samples(means);
}

std::vector<ControlledEffect> controlled_layers(const AblatedModel& model, const AblatedText& text,
                                                std::string_view action) {
  std::vector<ControlledEffect> effects;
  const auto add = [&](int64_t layer, const std::string& what, size_t run) {
    const auto is_it = [&](const ControlledEffect& each) { return each.layer == layer && each.what == what; };
    auto found = std::ranges::find_if(effects, is_it);
    if (found == effects.end())
      found = effects.insert(effects.end(), ControlledEffect{.layer = layer, .what = what});
    if (std::ranges::find(found->runs, run) == found->runs.end()) found->runs.push_back(run);
  };
  const std::vector<PlannedRun>& runs = model.plan.runs;
  for (size_t control = 0; control < text.effects.size(); ++control) {
    if (runs[control].control_of.empty()) continue;
    const auto run = std::ranges::find(runs, runs[control].control_of, &PlannedRun::name);
    if (run->group != "layers" || run->action != action || !run->layer || run->head) continue;
    add(*run->layer, model.gated ? "gate" : "attention", static_cast<size_t>(run - runs.begin()));
    add(*run->layer, kind_of_control(runs[control]), control);
  }
  for (ControlledEffect& effect : effects) effect.nll = mean_of_draws(text, effect.runs);
  return effects;
}

}  // namespace sluice
