// What the gates of a model do, drawn.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sluice/plot/bar_chart.h"
#include "sluice/plot/heat_map.h"
#include "sluice/plot/histogram.h"
#include "sluice/plot/panels.h"
#include "sluice/plot/ridge_chart.h"
#include "sluice/report/figure_parts.h"
#include "sluice/report/look_figures.h"

namespace sluice {

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
  const auto& layers = gate.layers;
  Panels panels{.columns = 2, .caption = {counted(model, gate)}};
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
    const Uncertain ratio = first_token_ratio(layer);
    ratios.values.push_back(ratio.value);
    ratios.low.push_back(ratio.ci95 ? ratio.ci95->low : kNoValue);
    ratios.high.push_back(ratio.ci95 ? ratio.ci95->high : kNoValue);
  }
  panels.panels.push_back(panel_of(BarChart{.title = "how much more open the others are",
                                            .x = layer_axis(layers),
                                            .y = {.label = "others / first"},
                                            .groups = {ratios}}));
  return {
      named_for(model, gate, "first_token_comparison"), figure_of(std::move(panels)),
      "Gates at the first token of each sequence against those at all others; right with 95 % intervals over "
      "sequences.",
      named_for(model, gate, "gates_by_layer")};
}

ReportFigure layer_distributions_figure(const StudiedModel& model, const GateMeasure& gate) {
  const auto& layers = gate.layers;
  BoxChart boxes{.title = "by layer", .x = layer_axis(layers), .y = {.label = "gate"}, .groups = {{}}};
  for (const GateLayer& layer : layers) boxes.groups.front().boxes.push_back(box_of(layer.values));
  RidgeChart ridges{.title = "shapes by depth", .x = {.label = "gate"}, .y_label = "layer"};
  for (const int64_t index : spread_layers(std::ssize(layers))) {
    const GateLayer& layer = layers[static_cast<size_t>(index)];
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
  LineChart chart{.title = "mean gate by position",
                  .x = {.label = "position in the sequence"},
                  .y = {.label = "mean gate"}};
  const auto add = [&](const std::string& name, const std::vector<Moments>& positions, size_t style) {
    Series series{.name = name, .style = style_number(style)};
    for (size_t i = 0; i < positions.size(); ++i) {
      series.x.push_back(static_cast<double>(i));
      series.y.push_back(positions[i].mean());
    }
    chart.series.push_back(std::move(series));
  };
  std::vector<Moments> all(gate.layers.front().by_position.size());
  for (const GateLayer& layer : gate.layers)
    for (size_t i = 0; i < all.size(); ++i) all[i].add(layer.by_position[i]);
  add("all layers", all, 0);
  Panel panel = panel_of(std::move(chart), 640, 300);
  return {named_for(model, gate, "gate_by_position"), figure_of(std::move(panel), {counted(model, gate)}),
          "The mean gate over all layers at each position.", named_for(model, gate, "gates_by_position")};
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
  return {
      named_for(model, gate, "dimension_behaviour"),
      figure_of(panel_of(std::move(chart)), {counted(model, gate)}),
      "Channels whose mean gate is below 0.1, above 0.9, and those whose variance is above 0.01 (a channel "
      "may be of two kinds).",
      named_for(model, gate, "channels_by_layer")};
}

ReportFigure sparsity_figure(const StudiedModel& model) {
  const auto& layers = model.look.sparsity;
  BarChart chart{
      .title = "values of attention's output below 0.01",
      .x = layer_axis(layers),
      .y = {.label = "share"},
      .groups = {{.name = "before the gate"}, {.name = "after it"}, {.name = "with the head's mean gate"}}};
  for (const SparsityLayer& layer : layers) {
    chart.groups[0].values.push_back(layer.shares_before().front());
    chart.groups[1].values.push_back(layer.shares_after().front());
    chart.groups[2].values.push_back(
        layer.shares_with_means(output_gate_means(model.look, layer.layer)).front());
  }
  return {named_for(model, "sparsity"), figure_of(panel_of(std::move(chart)), {counted(model)}),
          "What the gate makes nearly nothing, beside what its mean alone would.",
          named_for(model, "sparsity")};
}

ReportFigure relations_figure(const StudiedModel& model) {
  const auto& layers = model.look.relations;
  HeatMap map{.title = "what goes with an open gate",
              .rows = layers.size(),
              .columns = kGateRelations,
              .x = {.label = "correlation of the gate with", .names = {}},
              .y = layer_axis(layers),
              .color = {.label = "correlation", .map = ColorMap::Diverging}};
  for (size_t i = 0; i < kGateRelations; ++i) map.x.names.push_back(words_of(static_cast<GateRelation>(i)));
  for (const GateLayerRelations& layer : layers) {
    for (size_t i = 0; i < kGateRelations; ++i) {
      Moments mean;
      for (const GateHeadRelations& head : layer.by_head) {
        const double r = head.correlation(static_cast<GateRelation>(i));
        if (std::isfinite(r)) mean.add(r);
      }
      map.values.push_back(mean.count == 0 ? kNoValue : mean.mean());
    }
  }
  return {named_for(model, "gate_relations"), figure_of(panel_of(std::move(map)), {counted(model)}),
          "Pearson correlation, mean over the heads of a layer.", named_for(model, "gate_relations")};
}

ReportFigure gate_over_sink_figure(const StudiedModel& model) {
  const auto& layers = model.look.relations;
  HeatMap map =
      head_map(layers, layers.front().by_head.size(), [](const GateLayerRelations& layer, size_t h) {
        return layer.by_head[h].correlation(GateRelation::KeyAttention);
      });
  map.title = fmt::format("gate against attention on key {}", model.look.key);
  map.color = {.label = "correlation", .map = ColorMap::Diverging, .extent = {.low = -1, .high = 1}};
  return {named_for(model, "gate_over_sink"), figure_of(panel_of(std::move(map)), {counted(model)}),
          "At the same query and head: below zero the gate closes where attention goes to that key.",
          named_for(model, "gate_relations")};
}

}  // namespace sluice
