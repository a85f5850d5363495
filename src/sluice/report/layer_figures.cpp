// Layers beside something else: their controls, how closed their gates are, those of another model. Every
// text has a panel of its own.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "sluice/plot/panels.h"
#include "sluice/plot/scatter.h"
#include "sluice/report/ablation_figures.h"
#include "sluice/report/ablation_tables.h"
#include "sluice/report/figure_parts.h"

namespace sluice {
namespace {

std::string place_name(const ControlledEffect& effect) {
  return effect.head ? fmt::format("{}.{}", effect.layer, *effect.head) : std::to_string(effect.layer);
}

BarChart controls_chart(const std::vector<ControlledEffect>& effects, const char* label) {
  BarChart chart{.x = {.label = label}, .y = {.label = kNllLabel}};
  std::vector<std::string> kinds;
  for (const ControlledEffect& effect : effects) {
    if (std::ranges::find(kinds, effect.what) == kinds.end()) kinds.push_back(effect.what);
    if (std::ranges::find(chart.x.names, place_name(effect)) == chart.x.names.end())
      chart.x.names.push_back(place_name(effect));
  }
  for (const std::string& kind : kinds) {
    BarGroup& group = chart.groups.emplace_back(BarGroup{.name = kind});
    for (const std::string& name : chart.x.names) {
      const auto found = std::ranges::find_if(effects, [&](const ControlledEffect& effect) {
        return place_name(effect) == name && effect.what == kind;
      });
      add_bar(group, found == effects.end() ? Estimate{.value = kNoValue} : found->nll);
    }
  }
  return chart;
}

// By layer and head. Of more heads than fit beside each other those that did most, either way; whether some
// were left out.
bool keep_largest(std::vector<ControlledEffect>& effects, size_t most) {
  const auto place = [](const ControlledEffect& effect) {
    return std::pair(effect.layer, effect.head.value_or(-1));
  };
  std::map<std::pair<int64_t, int64_t>, double> sizes;  // of what was done to the gate itself: it comes first
  for (const ControlledEffect& effect : effects) sizes.try_emplace(place(effect), std::abs(effect.nll.value));
  std::vector<double> order;
  for (const auto& [at, size] : sizes) order.push_back(std::isfinite(size) ? size : 0);
  std::ranges::sort(order, std::ranges::greater{});
  const double least = order.size() > most ? order[most - 1] : 0;
  std::erase_if(effects, [&](const ControlledEffect& effect) { return sizes.at(place(effect)) < least; });
  std::ranges::stable_sort(effects, {}, place);
  return order.size() > most;
}

// What the controls of a group and an action are drawn as, a panel per text. None if there are none.
std::optional<Panels> controls_panels(const AblatedModel& model, const char* group, const std::string& action,
                                      const char* label, size_t most) {
  Panels panels{.columns = 1};
  for (const AblatedText& text : model.texts) {
    std::vector<ControlledEffect> effects = controlled_effects(model, text, group, action);
    if (effects.empty()) continue;
    if (keep_largest(effects, most))
      panels.caption.push_back(fmt::format("Of {} the {} {} that did most.", text.name, most, group));
    std::vector<size_t> runs;
    for (const ControlledEffect& effect : effects)
      runs.insert(runs.end(), effect.runs.begin(), effect.runs.end());
    BarChart chart = controls_chart(effects, label);
    chart.title =
        panel_title(fmt::format("{} {}, and their controls", group, action), model.texts.size(), text.name);
    panels.panels.push_back(panel_of(std::move(chart)));
    panels.caption.push_back(counted(model, text, runs));
  }
  if (panels.panels.empty()) return {};
  panels.caption.emplace_back(kWhiskers);
  return panels;
}

Panel sensitivity_panel(const LayerSensitivity& layers, size_t texts) {
  ScatterGroup points{.x = layers.closed, .y = layers.nll};
  for (const int64_t layer : layers.layers) points.labels.push_back(std::to_string(layer));
  for (const std::optional<Interval>& interval : layers.nll_ci95)
    points.upwards.push_back(extent_of(interval));
  Scatter chart{
      .title = panel_title(fmt::format("layers {}: effect against how closed they are", layers.action), texts,
                           layers.text),
      .x = {.label = "share of gates below 0.1"},
      .y = {.label = kNllLabel},
      .groups = {std::move(points)},
      .marginals = Marginals::None};
  const Association& all = layers.statistics.all;
  if (std::isfinite(all.slope)) {
    chart.fit = FitLine{all.intercept, all.slope, "least squares"};
    for (const double closed : layers.closed) chart.y.at_least.add(all.intercept + all.slope * closed);
  }
  return panel_of(std::move(chart));
}

// Of one text, by its number: a group of bars per model.
BarChart shares_chart(const AblationResult& result, size_t text) {
  BarChart chart{.x = {.label = "layer"},
                 .y = {.label = "share of the change of perplexity", .at_least = kUnitExtent}};
  int64_t layers = 0;
  for (const AblatedModel& model : result.models) layers = std::max(layers, model.layers);
  for (const AblatedModel& model : result.models) {
    const EffectProfile profile =
        effect_profile(model, model.texts[text], "layers", removal_of(model), ProfileIntervals::Bootstrap);
    if (profile.is_empty()) continue;
    BarGroup group{.name = fmt::format("{}, {}", model.name, profile.action)};
    for (std::vector<double>* values : {&group.values, &group.low, &group.high})
      values->assign(static_cast<size_t>(layers), kNoValue);
    for (const PlaceEffect& place : profile.places) {
      const auto at = static_cast<size_t>(place.layer);
      group.values[at] = place.ppl_share;
      if (!place.ppl_share_ci95) continue;
      group.low[at] = place.ppl_share_ci95->low;
      group.high[at] = place.ppl_share_ci95->high;
    }
    chart.groups.push_back(std::move(group));
  }
  for (int64_t i = 0; i < layers; ++i) chart.x.names.push_back(std::to_string(i));
  return chart;
}

}  // namespace

std::optional<ReportFigure> controls_figure(const AblatedModel& model, const std::string& action) {
  constexpr size_t kAllLayers = std::numeric_limits<size_t>::max();
  std::optional<Panels> panels = controls_panels(model, "layers", action, "layer", kAllLayers);
  if (!panels) return {};
  const std::string stem = "controls_" + action;
  return ReportFigure{named_for(model, stem.c_str()), figure_of(*std::move(panels)),
                      model.gated ? "Is it the gate, or would anything broken do the same?"
                                  : "Is it attention's output, or would anything broken do the same?",
                      named_for(model, "controls")};
}

std::optional<ReportFigure> head_controls_figure(const AblatedModel& model, const std::string& action) {
  constexpr size_t kMostHeads = 12;
  std::optional<Panels> panels = controls_panels(model, "heads", action, "layer.head", kMostHeads);
  if (!panels) return {};
  const std::string stem = "head_controls_" + action;
  return ReportFigure{named_for(model, stem.c_str()), figure_of(*std::move(panels)),
                      model.gated ? "Is it this head's gate, or would noise of the same size do the same?"
                                  : "Is it this head, or would noise of the same size do the same?",
                      named_for(model, "controls")};
}

ReportFigure sensitivity_figure(const AblatedModel& model, const std::vector<LayerSensitivity>& texts) {
  Panels panels{.columns = 1};
  for (const LayerSensitivity& layers : texts) {
    panels.panels.push_back(sensitivity_panel(layers, model.texts.size()));
    panels.caption.push_back(fmt::format("{}: the {} chunks of {} that all layers have seen.", model.name,
                                         layers.chunks, layers.text));
  }
  const AblatedText& first = model.texts.front();
  panels.caption.push_back(
      fmt::format("How closed gates are was measured on {}. Whiskers: 95 % intervals, bootstrap over chunks.",
                  first.calibration == kOwnCalibration ? "the text of --calibration"
                                                       : first.calibration + ", of " + first.name));
  const std::string stem = "sensitivity_" + texts.front().action;
  return {named_for(model, stem.c_str()), figure_of(std::move(panels)),
          "Does a layer's sparsity predict how much breaking it hurts?", named_for(model, stem.c_str())};
}

std::optional<ReportFigure> shares_figure(const AblationResult& result) {
  if (result.models.empty()) return {};
  Panels panels{.columns = 1};
  const size_t texts = result.models.front().texts.size();
  for (size_t text = 0; text < texts; ++text) {
    BarChart chart = shares_chart(result, text);
    if (chart.groups.size() < 2) continue;  // nothing to be beside
    const std::string& name = result.models.front().texts[text].name;
    chart.title = panel_title("share of each layer in the damage", texts, name);
    panels.panels.push_back(panel_of(std::move(chart)));
  }
  if (panels.panels.empty()) return {};
  panels.caption = {
      "Gated: gates closed. Without a gate: attention's output zeroed. One layer at a time, on the chunks "
      "that all layers of a model have seen. Whiskers: 95 % intervals, bootstrap over chunks."};
  return ReportFigure{"damage_shares", figure_of(std::move(panels)),
                      "Models beside each other: which layers carry the damage.", "damage_shares"};
}

}  // namespace sluice
