#include "sluice/ablate/ablation_analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

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

// Of damage beyond all numbers there are no shares.
double share_of(double part, double sum) {
  if (!std::isfinite(sum)) return std::numeric_limits<double>::quiet_NaN();
  return sum > 0 ? std::max(part, 0.0) / sum : 0.0;
}

// The figures of a place, in this order: nll, ppl, and the shares of both.
constexpr size_t kPlaceFigures = 4;

// Of all places, one after the other, from their changes of nll and the unbroken model's nll.
std::vector<double> place_figures(const std::vector<double>& changes, double base) {
  double nll = 0, ppl = 0;
  std::vector<double> figures(changes.size() * kPlaceFigures);
  for (size_t i = 0; i < changes.size(); ++i) {
    double* of = &figures[i * kPlaceFigures];
    of[0] = changes[i];
    of[1] = std::exp(base) * std::expm1(changes[i]);
    nll += std::max(of[0], 0.0);
    ppl += std::max(of[1], 0.0);
  }
  for (size_t i = 0; i < changes.size(); ++i) {
    double* of = &figures[i * kPlaceFigures];
    of[2] = share_of(of[0], nll);
    of[3] = share_of(of[1], ppl);
  }
  return figures;
}

// What was done to one place: its runs, and their mean by chunk. No chunks: a likelihood was not finite.
struct PlaceRuns {
  RunIndices runs = {};
  std::vector<double> by_chunk = {};
};

double mean_of_draw(const std::vector<double>& values, std::span<const size_t> draw) {
  double sum = 0;
  for (const size_t i : draw) sum += values[i];
  return sum / static_cast<double>(draw.size());
}

RunVerdict common_verdict(const AblatedText& text, const RunIndices& runs) {
  const RunVerdict first = text.effects[runs.front()].verdict;
  const bool all = std::ranges::all_of(runs, [&](size_t run) { return text.effects[run].verdict == first; });
  return all ? first : RunVerdict::Undecided;
}

// The first `chunks` of each, averaged.
std::vector<double> mean_by_chunk(const AblatedText& text, const RunIndices& runs, int64_t chunks) {
  if (!std::ranges::all_of(runs, [&](size_t run) { return text.effects[run].finite; })) return {};
  std::vector<double> means(static_cast<size_t>(chunks));
  for (const size_t run : runs)
    for (size_t i = 0; i < means.size(); ++i)
      means[i] += text.effects[run].by_chunk[i] / static_cast<double>(runs.size());
  return means;
}

EffectProfile profile_of(const AblatedModel& model, const AblatedText& text, const RunIndices& runs,
                         std::string_view action, ProfileIntervals with) {
  EffectProfile profile{.action = std::string(action), .chunks = common_chunks(text, runs)};
  std::map<std::pair<int64_t, int64_t>, PlaceRuns> by_place;  // layer and head
  for (const size_t i : runs) {
    const PlannedRun& run = model.plan.runs[i];
    by_place[{*run.layer, run.head.value_or(-1)}].runs.push_back(i);
  }
  std::vector<const PlaceRuns*> places;
  for (auto& [place, of] : by_place) {
    of.by_chunk = mean_by_chunk(text, of.runs, profile.chunks);
    PlaceEffect effect{.layer = place.first, .draws = std::ssize(of.runs)};
    if (place.second >= 0) effect.head = place.second;
    effect.verdict = common_verdict(text, of.runs);
    profile.places.push_back(effect);
    places.push_back(&of);
  }
  const auto figures_of = [&](std::span<const size_t> draw) {
    std::vector<double> changes;
    for (const PlaceRuns* place : places)
      changes.push_back(place->by_chunk.empty() ? std::numeric_limits<double>::infinity()
                                                : mean_of_draw(place->by_chunk, draw));
    return place_figures(changes, mean_of_draw(text.base_by_chunk, draw));
  };
  std::vector<size_t> all(static_cast<size_t>(profile.chunks));
  std::iota(all.begin(), all.end(), size_t{0});
  const std::vector<double> figures = figures_of(all);
  std::vector<std::optional<Interval>> intervals;
  if (with == ProfileIntervals::Bootstrap) intervals = bootstrap_all(all.size(), figures_of);
  for (size_t i = 0; i < profile.places.size(); ++i) {
    PlaceEffect& place = profile.places[i];
    double* const values[] = {&place.nll, &place.ppl, &place.nll_share, &place.ppl_share};
    std::optional<Interval>* const ends[] = {&place.nll_ci95, &place.ppl_ci95, &place.nll_share_ci95,
                                             &place.ppl_share_ci95};
    for (size_t figure = 0; figure < kPlaceFigures; ++figure) {
      *values[figure] = figures[i * kPlaceFigures + figure];
      if (!intervals.empty()) *ends[figure] = intervals[i * kPlaceFigures + figure];
    }
  }
  return profile;
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
    comparison.estimated_ci95.push_back(estimate->ci95);
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
    // Estimates are of the first chunks of the order that runs take, too.
    if (run.group == "global" && run.action == action && is_at_tap(run, tap) && effects[i].finite)
      return mean_of_first(effects[i].by_chunk, std::min(effects[i].chunks, model.estimates->chunks));
  }
  return {};
}

}  // namespace

std::string kind_of_control(const PlannedRun& control) {
  const size_t slash = control.name.find(" / ");
  const std::string kind = slash == std::string::npos ? control.action : control.name.substr(slash + 3);
  if (kind.starts_with("noise in layer ")) return "noise in another layer";
  if (kind.starts_with("noise in head ")) {
    const bool own =
        control.control_of.find(fmt::format(" head {} ", control.head.value_or(-1))) != std::string::npos;
    return own ? "noise in the head" : "noise in another head";
  }
  return kind.substr(0, kind.find(':'));
}

std::optional<double> EstimateComparison::missing_share() const {
  if (method == EstimateMethod::FirstOrder || !all_exact || *all_exact == 0) return {};
  return std::abs(all_estimated - *all_exact) / std::abs(*all_exact);
}

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
                             std::string_view action, ProfileIntervals intervals) {
  return profile_of(model, text, runs_about(model, text, group, action), action, intervals);
}

const char* removal_of(const AblatedModel& model) {
  return model.gated ? "closed" : "zeroed";
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
  const EffectProfile profile = effect_profile(model, text, "layers", action, ProfileIntervals::Bootstrap);
  LayerSensitivity result{.action = profile.action, .text = text.name, .chunks = profile.chunks};
  for (const PlaceEffect& place : profile.places) {
    const auto gates = std::ranges::find(model.gates, place.layer, &LayerGates::layer);
    if (gates == model.gates.end() || !std::isfinite(place.nll)) continue;
    result.layers.push_back(place.layer);
    result.closed.push_back(gates->closed);
    result.nll.push_back(place.nll);
    result.nll_ci95.push_back(place.nll_ci95);
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
      EstimateComparison comparison = beside(
          estimates, profile_of(model, model.texts.front(), runs, action, ProfileIntervals::Bootstrap));
      comparison.of_heads = group == "heads";
      comparison.all_exact = measured_at_once(model, estimates.tap, action);
      comparison.steps = model.estimates->steps;
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

int64_t evaluations_there(const AblatedModel& model, const AblatedText& text) {
  return text.effects.empty() ? 0 : different_runs(model.plan) * text.chunks;
}

int64_t equal_run_count(const AblatedModel& model) {
  return std::ssize(model.plan.runs) - different_runs(model.plan);
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
    ConfidenceSequence sequence;
    for (const double difference : differences) sequence.add(difference);
    pair.sequence = simultaneous_interval(sequence, rule);
    pair.verdict = verdict_of(sequence, rule);
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

std::vector<ControlledEffect> controlled_effects(const AblatedModel& model, const AblatedText& text,
                                                 std::string_view group, std::string_view action) {
  std::vector<ControlledEffect> effects;
  const std::vector<PlannedRun>& runs = model.plan.runs;
  const auto add = [&](const PlannedRun& about, const std::string& what, size_t run) {
    const auto is_it = [&](const ControlledEffect& each) {
      return each.layer == *about.layer && each.head == about.head && each.what == what;
    };
    auto found = std::ranges::find_if(effects, is_it);
    if (found == effects.end())
      found = effects.insert(effects.end(),
                             ControlledEffect{.layer = *about.layer, .head = about.head, .what = what});
    if (std::ranges::find(found->runs, run) == found->runs.end()) found->runs.push_back(run);
  };
  for (size_t control = 0; control < text.effects.size(); ++control) {
    if (runs[control].control_of.empty()) continue;
    const auto run = std::ranges::find(runs, runs[control].control_of, &PlannedRun::name);
    if (run->group != group || run->action != action || !run->layer) continue;
    if (run->head.has_value() != (group == "heads")) continue;
    add(*run, model.gated ? "gate" : "attention", static_cast<size_t>(run - runs.begin()));
    add(*run, kind_of_control(runs[control]), control);
  }
  for (ControlledEffect& effect : effects) effect.nll = mean_of_draws(text, effect.runs);
  return effects;
}

}  // namespace sluice
