// Layers beside something else: their controls, how closed their gates are, those of another model. Every
// text has a panel of its own.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "sluice/plot/panels.h"
#include "sluice/plot/scatter.h"
#include "sluice/report/ablation_figures.h"
#include "sluice/report/ablation_tables.h"
#include "sluice/report/figure_parts.h"

namespace sluice {
namespace {

// "layers closed", or "layers closed, on code.txt" where there are several texts.
std::string panel_title(const std::string& what, size_t texts, const std::string& text) {
  return texts == 1 ? what : fmt::format("{}, on {}", what, text);
}

BarChart controls_chart(const std::vector<ControlledEffect>& effects) {
  std::set<int64_t> layers;
  std::vector<std::string> kinds;
  for (const ControlledEffect& effect : effects) {
    layers.insert(effect.layer);
    if (std::ranges::find(kinds, effect.what) == kinds.end()) kinds.push_back(effect.what);
  }
  BarChart chart{.x = {.label = "layer"}, .y = {.label = kNllLabel}};
  for (const int64_t layer : layers) chart.x.names.push_back(std::to_string(layer));
  for (const std::string& kind : kinds) {
    BarGroup& group = chart.groups.emplace_back(BarGroup{.name = kind});
    for (const int64_t layer : layers) {
      const auto found = std::ranges::find_if(effects, [&](const ControlledEffect& effect) {
        return effect.layer == layer && effect.what == kind;
      });
      add_bar(group, found == effects.end() ? Estimate{.value = kNoValue} : found->nll);
    }
  }
  return chart;
}

Panel sensitivity_panel(const LayerSensitivity& layers, size_t texts) {
  ScatterGroup points{.x = layers.closed, .y = layers.nll};
  for (const int64_t layer : layers.layers) points.labels.push_back(std::to_string(layer));
  Scatter chart{
      .title = panel_title(fmt::format("layers {}: effect against how closed they are", layers.action), texts,
                           layers.text),
      .x = {.label = "share of gates below 0.1"},
      .y = {.label = kNllLabel},
      .groups = {std::move(points)},
      .marginals = Marginals::None};
  const Association& all = layers.statistics.all;
  if (std::isfinite(all.slope)) chart.fit = FitLine{all.intercept, all.slope, "least squares"};
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
        effect_profile(model, model.texts[text], "layers", model.gated ? "closed" : "zeroed");
    if (profile.is_empty()) continue;
    BarGroup group{.name = fmt::format("{}, {}", model.name, profile.action)};
    group.values.assign(static_cast<size_t>(layers), kNoValue);
    for (const PlaceEffect& place : profile.places)
      group.values[static_cast<size_t>(place.layer)] = place.ppl_share;
    chart.groups.push_back(std::move(group));
  }
  for (int64_t i = 0; i < layers; ++i) chart.x.names.push_back(std::to_string(i));
  return chart;
}

}  // namespace

std::optional<ReportFigure> controls_figure(const AblatedModel& model, const std::string& action) {
  Panels panels{.columns = 1};
  for (const AblatedText& text : model.texts) {
    const std::vector<ControlledEffect> effects = controlled_layers(model, text, action);
    if (effects.empty()) continue;
    std::vector<size_t> runs;
    for (const ControlledEffect& effect : effects)
      runs.insert(runs.end(), effect.runs.begin(), effect.runs.end());
    BarChart chart = controls_chart(effects);
    chart.title = panel_title(fmt::format("layers {}, and the same done to other tensors", action),
                              model.texts.size(), text.name);
    panels.panels.push_back(panel_of(std::move(chart)));
    panels.caption.push_back(counted(model, text, runs));
  }
  if (panels.panels.empty()) return {};
  panels.caption.emplace_back(kWhiskers);
  const std::string stem = "controls_" + action;
  return ReportFigure{named_for(model, stem.c_str()), figure_of(std::move(panels)),
                      "Is it the gate, or would anything broken do the same?", named_for(model, "controls")};
}

ReportFigure sensitivity_figure(const AblatedModel& model, const std::vector<LayerSensitivity>& texts) {
  Panels panels{.columns = 1};
  for (const LayerSensitivity& layers : texts) {
    panels.panels.push_back(sensitivity_panel(layers, model.texts.size()));
    panels.caption.push_back(fmt::format("{}: the {} chunks of {} that all layers have seen.", model.name,
                                         layers.chunks, layers.text));
  }
  panels.caption.push_back(fmt::format("How closed gates are was measured on the calibration text of {}.",
                                       model.texts.front().name));
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
    if (chart.groups.empty()) continue;
    const std::string& name = result.models.front().texts[text].name;
    chart.title = panel_title("share of each layer in the damage", texts, name);
    panels.panels.push_back(panel_of(std::move(chart)));
  }
  if (panels.panels.empty()) return {};
  panels.caption = {
      "Gated: gates closed. Without a gate: attention's output zeroed. One layer at a time, on the chunks "
      "that all layers of a model have seen."};
  return ReportFigure{"damage_shares", figure_of(std::move(panels)),
                      "Models beside each other: which layers carry the damage.", "damage_shares"};
}

}  // namespace sluice
