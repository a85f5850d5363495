// What goes with an open gate, and what a gate does to attention's output, drawn.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sluice/plot/bar_chart.h"
#include "sluice/plot/heat_map.h"
#include "sluice/plot/panels.h"
#include "sluice/plot/scatter.h"
#include "sluice/report/figure_parts.h"
#include "sluice/report/look_figures.h"

namespace sluice {

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

ReportFigure head_scatter_figure(const StudiedModel& model) {
  Scatter scatter{.title = "mean gate and attention on the key, head by head",
                  .x = {.label = fmt::format("attention on key {}", model.look.key)},
                  .y = {.label = "mean gate"},
                  .groups = {{}}};
  for (const GateLayer& layer : model.look.output_gate()->layers) {
    const auto attention = std::ranges::find(model.look.attention, layer.layer, &AttentionLayer::layer);
    if (attention == model.look.attention.end()) continue;
    for (size_t h = 0; h < layer.by_head.size(); ++h) {
      scatter.groups[0].x.push_back(attention->by_head[h].key.mean());
      scatter.groups[0].y.push_back(layer.by_head[h].all.mean());
    }
  }
  return {named_for(model, "gate_and_sink_by_head"),
          figure_of(panel_of(std::move(scatter)), {counted(model)}),
          "A point for each head: do heads with a sink have other gates?", named_for(model, "gates_by_head")};
}

}  // namespace sluice
