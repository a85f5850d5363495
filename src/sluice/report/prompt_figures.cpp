// One prompt of a model, drawn.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sluice/plot/panels.h"
#include "sluice/plot/token_strip.h"
#include "sluice/report/figure_parts.h"
#include "sluice/report/look_figures.h"

namespace sluice {
namespace {

// Of all values but the largest hundredth: the first queries, which see few keys, would leave no colours for
// the others.
double high_quantile(const std::vector<HeatMap>& maps) {
  std::vector<double> values;
  for (const HeatMap& map : maps)
    std::ranges::copy_if(map.values, std::back_inserter(values), [](double x) { return std::isfinite(x); });
  if (values.empty()) return 1;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() - 1 - (values.size() - 1) / 100);
  std::ranges::nth_element(values, at);
  return *at;
}

// So many attention maps are drawn large, two in a row; more become small, and a picture has an end.
constexpr size_t kLargeMaps = 8, kSmallColumns = 6, kMostMaps = 96;

Panel small_panel(HeatMap map) {
  constexpr double kSide = 130, kTitle = 20;
  map.x.label = map.y.label = "";
  Panel panel = panel_of(std::move(map));
  panel.width = kSide;
  panel.height = kSide + kTitle;
  return panel;
}

}  // namespace

ReportFigure token_map_figure(const StudiedModel& model) {
  const PromptMap& prompt = model.prompt;
  const size_t tokens = prompt.ids.size();
  HeatMap map{.title = "mean gate by layer and token",
              .columns = tokens,
              .x = {.label = "token", .names = token_names(prompt)},
              .y = {.label = "layer"},
              .color = {.label = "mean gate"}};
  for (const PromptLayer& layer : prompt.layers) {
    if (layer.gates.empty()) continue;
    const size_t heads = layer.gates.size() / tokens;
    map.y.names.push_back(std::to_string(layer.layer));
    ++map.rows;
    for (size_t t = 0; t < tokens; ++t) {
      double sum = 0;
      for (size_t h = 0; h < heads; ++h) sum += layer.gates[t * heads + h];
      map.values.push_back(sum / static_cast<double>(heads));
    }
  }
  return {
      named_for(model, "token_gate_heatmap"), figure_of(panel_of(std::move(map)), {model.name}),
      "The gates of one prompt, mean over heads. One prompt shows what happens, not what always happens."};
}

ReportFigure token_head_map_figure(const StudiedModel& model) {
  const PromptMap& prompt = model.prompt;
  const size_t tokens = prompt.ids.size();
  HeatMap map{.title = "mean gate by head and token",
              .columns = tokens,
              .x = {.label = "token", .names = token_names(prompt)},
              .y = {.label = "head"},
              .color = {.label = "mean gate"}};
  size_t layers = 0;
  for (const PromptLayer& layer : prompt.layers) {
    if (layer.gates.empty()) continue;
    map.rows = layer.gates.size() / tokens;
    map.values.resize(layer.gates.size());
    ++layers;
    for (size_t t = 0; t < tokens; ++t)
      for (size_t h = 0; h < map.rows; ++h) map.values[h * tokens + t] += layer.gates[t * map.rows + h];
  }
  for (double& value : map.values) value /= static_cast<double>(layers);
  return {named_for(model, "token_head_heatmap"), figure_of(panel_of(std::move(map)), {model.name}),
          "The gates of the same prompt by head, mean over layers."};
}

ReportFigure token_strip_figure(const StudiedModel& model) {
  const PromptMap& prompt = model.prompt;
  TokenStrip strip{.title = "surprise",
                   .tokens = prompt.tokens.empty() ? token_names(prompt) : prompt.tokens,
                   .values = {prompt.surprise.begin(), prompt.surprise.end()},
                   .color = {.label = "nats"}};
  return {named_for(model, "surprise"), figure_of(panel_of(std::move(strip)), {model.name}),
          "How unlikely the model found each token of the prompt."};
}

ReportFigure lens_figure(const StudiedModel& model) {
  const std::vector<LensLayer>& layers = model.lens->layers;
  HeatMap map{.title = "surprise at the next token, by layer",
              .rows = layers.size(),
              .columns = layers.front().surprise.size(),
              .x = {.label = "token", .names = token_names(model.prompt)},
              .y = layer_axis(layers),
              .color = {.label = "nats"},
              .numbers = CellNumbers::None};
  map.x.names.pop_back();
  for (const LensLayer& layer : layers)
    map.values.insert(map.values.end(), layer.surprise.begin(), layer.surprise.end());
  return {named_for(model, "logit_lens"), figure_of(panel_of(std::move(map)), {model.name}),
          "How unlikely the token after each is, if the model ended at this layer.",
          named_for(model, "logit_lens")};
}

ReportFigure attention_maps_figure(const StudiedModel& model, MapScale scale) {
  const PromptMap& prompt = model.prompt;
  const size_t tokens = prompt.ids.size();
  std::vector<HeatMap> maps;
  for (const AttentionMap& kept : prompt.maps) {
    HeatMap& map = maps.emplace_back();
    map.title = kept.head ? fmt::format("layer {}, head {}", kept.layer, *kept.head)
                          : fmt::format("layer {}, mean over heads", kept.layer);
    map.rows = map.columns = tokens;
    map.values.assign(kept.values.begin(), kept.values.end());
    for (size_t q = 0; q < tokens; ++q)
      for (size_t k = q + 1; k < tokens; ++k) map.values[q * tokens + k] = kNoValue;
    if (scale == MapScale::WithoutFirst)
      for (size_t q = 0; q < tokens; ++q) map.values[q * tokens] = kNoValue;
    map.x.label = "key";
    map.y.label = "query";
    map.color = {.label = "probability",
                 .scale = scale == MapScale::Log ? AxisScale::Log : AxisScale::Linear};
    map.numbers = CellNumbers::None;
    map.shape = CellShape::Square;
  }
  const double highest = high_quantile(maps);
  if (scale != MapScale::Log)
    for (HeatMap& map : maps) map.color.extent = {.low = 0, .high = highest};
  std::string caption = fmt::format("{}: {} tokens.", model.name, tokens);
  if (maps.size() > kMostMaps) {
    caption += fmt::format(" The first {} of {} maps; --layers chooses.", kMostMaps, maps.size());
    maps.resize(kMostMaps);
  }
  const bool small = maps.size() > kLargeMaps;
  Panels panels{.columns = small ? kSmallColumns : 2,
                .wraps = false,  // maps are looked at side by side
                .color = share_colors(maps),
                .caption = {std::move(caption)}};
  for (HeatMap& map : maps)
    panels.panels.push_back(small ? small_panel(std::move(map)) : panel_of(std::move(map)));
  return {named_for(model, "selected_layer_attention_maps"), figure_of(std::move(panels)),
          "Where attention goes in one prompt. A dark first column is a sink."};
}

}  // namespace sluice
