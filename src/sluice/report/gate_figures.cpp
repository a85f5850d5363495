// What the gates of a model do, drawn.
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "sluice/plot/bar_chart.h"
#include "sluice/plot/heat_map.h"
#include "sluice/plot/histogram.h"
#include "sluice/plot/panels.h"
#include "sluice/plot/ridge_chart.h"
#include "sluice/report/figure_parts.h"
#include "sluice/report/look_figures.h"

namespace sluice {
namespace {

// First token against others by layer: means beside each other, and how many times the one is the other.
Figure first_token_panels(const GateMeasure& gate, std::string caption) {
  const auto& layers = gate.layers;
  Panels panels{.columns = 2, .caption = {std::move(caption)}};
  panels.panels.push_back(panel_of(BarChart{
      .title = "mean gate",
      .x = layer_axis(layers),
      .y = {.label = "mean gate"},
      .groups = {{.name = "first token",
                  .values = by_layer(layers, [](const GateLayer& l) { return l.first.mean(); })},
                 {.name = "other tokens",
                  .values = by_layer(layers, [](const GateLayer& l) { return l.others.mean(); })}}}));
  BarGroup ratios;
  for (const GateLayer& layer : layers) {
    const auto& [value, ci95] = layer.first_ratio;
    ratios.values.push_back(value);
    ratios.low.push_back(ci95 ? ci95->low : kNoValue);
    ratios.high.push_back(ci95 ? ci95->high : kNoValue);
  }
  panels.panels.push_back(panel_of(BarChart{.title = "how much more open the others are",
                                            .x = layer_axis(layers),
                                            .y = {.label = "others / first"},
                                            .groups = {ratios}}));
  return figure_of(std::move(panels));
}

// By layer and position. Position 0 stands alone, since it differs; the others lie in equal parts.
HeatMap position_map(const GateMeasure& gate, size_t positions) {
  constexpr size_t kMostParts = 64;
  const size_t step = std::max<size_t>(1, (positions + kMostParts - 2) / kMostParts);
  HeatMap map{.title = "by layer",
              .rows = gate.layers.size(),
              .x = {.label = "position in the sequence"},
              .y = layer_axis(gate.layers),
              .color = {.label = "mean gate"},
              .numbers = CellNumbers::None};
  map.x.names.emplace_back("0");
  for (size_t begin = 1; begin < positions; begin += step) map.x.names.push_back(std::to_string(begin));
  map.columns = map.x.names.size();
  for (const GateLayer& layer : gate.layers) {
    map.values.push_back(layer.by_position.front().mean());
    for (size_t begin = 1; begin < positions; begin += step) {
      Moments part;
      for (size_t i = begin; i < std::min(begin + step, positions); ++i) part.add(layer.by_position[i]);
      map.values.push_back(part.mean());
    }
  }
  return map;
}

double closed_share(const GateLayer& layer, size_t head) {
  const std::vector<Moments> channels = layer.all_channels();
  const auto width = static_cast<size_t>(layer.width);
  return share_of(sets_of(std::span(channels).subspan(head * width, width)).closed);
}

// From the first to the last: shapes change most at both ends.
std::vector<size_t> depths(size_t layers) {
  constexpr size_t kShown = 4;
  std::vector<size_t> shown;
  const size_t count = std::min(kShown, layers);
  for (size_t i = 0; i < count; ++i) shown.push_back(count == 1 ? 0 : i * (layers - 1) / (count - 1));
  return shown;
}

}  // namespace

ReportFigure gate_distribution_figure(const StudiedModel& model, const GateMeasure& gate) {
  const Distribution values = gate.values();
  const auto& layers = gate.layers;
  const Moments moments = values.moments();
  Panels panels{.columns = 2, .caption = {counted(model, gate)}};
  panels.panels.push_back(panel_of(
      Histogram{.title = "all gate values",
                .x = {.label = "gate"},
                .bins = bins_of(values),
                .marks = {{moments.mean(), fmt::format("mean {:.3f}", moments.mean())},
                          {values.quantile(0.5), fmt::format("median {:.3f}", values.quantile(0.5))}}}));
  panels.panels.push_back(panel_of(BarChart{.title = "mean by layer",
                                            .x = layer_axis(layers),
                                            .y = {.label = "mean gate"},
                                            .groups = {{.values = by_layer(layers, [](const GateLayer& l) {
                                                          return l.values.moments().mean();
                                                        })}}}));
  panels.panels.push_back(panel_of(BarChart{
      .title = "nearly closed by layer",
      .x = layer_axis(layers),
      .y = {.label = "share below 0.1"},
      .groups = {{.values = by_layer(layers, [](const GateLayer& l) { return l.values.closed(); })}}}));
  return {named_for(model, gate, "gate_distribution"), figure_of(std::move(panels)),
          "How open the gates are: all values, the mean of each layer, and the share of each layer that is "
          "nearly closed.",
          named_for(model, gate, "gates_by_layer")};
}

ReportFigure head_map_figure(const StudiedModel& model, const GateMeasure& gate) {
  HeatMap map = head_map(gate.layers, static_cast<size_t>(gate.layers.front().heads),
                         [](const GateLayer& layer, size_t h) { return layer.by_head[h].all.mean(); });
  map.title = "mean gate by layer and head";
  map.color = {.label = "mean gate"};
  return {
      named_for(model, gate, "per_head_heatmap"), figure_of(panel_of(std::move(map)), {counted(model, gate)}),
      "The mean gate of every head. Darker heads are more open.", named_for(model, gate, "gates_by_head")};
}

ReportFigure first_token_figure(const StudiedModel& model, const GateMeasure& gate) {
  return {
      named_for(model, gate, "first_token_comparison"), first_token_panels(gate, counted(model, gate)),
      "Gates at the first token of each sequence against those at all others; right with 95 % intervals over "
      "sequences.",
      named_for(model, gate, "gates_by_layer")};
}

ReportFigure first_words_figure(const StudiedModel& model, const GateMeasure& gate) {
  const Look& look = *model.first_words;
  return {
      named_for(model, gate, "first_words"),
      first_token_panels(gate, fmt::format("Gate {} of {}: {} sequences of {} tokens, each beginning with "
                                           "another token.",
                                           gate.position, model.name, look.sequences, look.length)),
      "The same with as many different first tokens as there are sequences.",
      named_for(model, gate, "first_words")};
}

ReportFigure layer_distributions_figure(const StudiedModel& model, const GateMeasure& gate) {
  const auto& layers = gate.layers;
  BoxChart boxes{.title = "by layer", .x = layer_axis(layers), .y = {.label = "gate"}, .groups = {{}}};
  for (const GateLayer& layer : layers) boxes.groups.front().boxes.push_back(box_of(layer.values));
  RidgeChart ridges{.title = "shapes by depth", .x = {.label = "gate"}, .y_label = "layer"};
  for (const size_t index : depths(layers.size())) {
    const GateLayer& layer = layers[index];
    ridges.ridges.push_back({std::to_string(layer.layer), bins_of(layer.values)});
  }
  Panels panels{.columns = 2, .caption = {counted(model, gate)}};
  panels.panels.push_back(panel_of(std::move(boxes)));
  panels.panels.push_back(panel_of(std::move(ridges)));
  return {named_for(model, gate, "per_layer_distributions"), figure_of(std::move(panels)),
          "How gates are spread in each layer (quantiles 5, 25, 50, 75 and 95 %; diamonds: means), and the "
          "shape of the distribution by depth.",
          named_for(model, gate, "gates_by_layer")};
}

ReportFigure gate_by_position_figure(const StudiedModel& model, const GateMeasure& gate) {
  Series series{.name = "all layers", .style = style_number(0)};
  const size_t positions = gate.layers.front().by_position.size();
  for (size_t i = 0; i < positions; ++i) {
    Moments all;
    for (const GateLayer& layer : gate.layers) all.add(layer.by_position[i]);
    series.x.push_back(static_cast<double>(i));
    series.y.push_back(all.mean());
  }
  LineChart chart{.title = "mean gate by position",
                  .x = {.label = "position in the sequence"},
                  .y = {.label = "mean gate"},
                  .series = {std::move(series)}};
  Panels panels{.columns = 1, .caption = {counted(model, gate)}};
  panels.panels.push_back(panel_of(std::move(chart), 640, 300));
  panels.panels.push_back(panel_of(position_map(gate, positions)));
  return {named_for(model, gate, "gate_by_position"), figure_of(std::move(panels)),
          "The mean gate at each position: over all layers, and of each layer, positions that lie together "
          "as one.",
          named_for(model, gate, "gates_by_position")};
}

ReportFigure channel_figure(const StudiedModel& model, const GateMeasure& gate) {
  BarChart chart{.title = "channels by what they do",
                 .x = layer_axis(gate.layers),
                 .y = {.label = "share of channels", .at_least = kUnitExtent},
                 .groups = {{.name = "always closed"}, {.name = "always open"}, {.name = "input-dependent"}}};
  for (const GateLayer& layer : gate.layers) {
    const ChannelSets sets = layer.channel_sets();
    chart.groups[0].values.push_back(share_of(sets.closed));
    chart.groups[1].values.push_back(share_of(sets.open));
    chart.groups[2].values.push_back(share_of(sets.dynamic));
  }
  HeatMap map = head_map(gate.layers, static_cast<size_t>(gate.layers.front().heads), closed_share);
  map.title = "always closed by layer and head";
  map.color = {.label = "share of channels", .extent = kUnitExtent};
  Panels panels{.columns = 1, .caption = {counted(model, gate)}};
  panels.panels.push_back(panel_of(std::move(chart)));
  panels.panels.push_back(panel_of(std::move(map)));
  return {
      named_for(model, gate, "dimension_behaviour"), figure_of(std::move(panels)),
      "Channels whose mean gate is below 0.1, above 0.9, and those whose variance is above 0.01 (a channel "
      "may be of two kinds).",
      named_for(model, gate, "channels_by_layer")};
}

}  // namespace sluice
