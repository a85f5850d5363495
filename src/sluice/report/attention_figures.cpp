// Where attention goes and how large values get, drawn.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sluice/plot/bar_chart.h"
#include "sluice/plot/panels.h"
#include "sluice/report/figure_parts.h"
#include "sluice/report/look_figures.h"

namespace sluice {

ReportFigure sink_figure(const StudiedModel& model) {
  const auto& layers = model.look.attention;
  const std::vector<double> floor(layers.size(), model.look.key_floor);
  const std::vector<double> late_floor(layers.size(), model.look.late_key_floor);
  BarChart chart{
      .title = fmt::format("attention on key {}", model.look.key),
      .x = layer_axis(layers),
      .y = {.label = "mean probability"},
      .groups = {{.name = "measured",
                  .values = by_layer(layers, [](const AttentionLayer& l) { return l.all().mean(); })},
                 {.name = "without the first 4 queries",
                  .values = by_layer(layers, [](const AttentionLayer& l) { return l.all().late_mean(); })},
                 {.name = "uniform attention", .values = floor},
                 {.name = "the same without them", .values = late_floor}}};
  return {named_for(model, "sink_per_layer"), figure_of(panel_of(std::move(chart)), {counted(model)}),
          "How much of the attention lies on one key, beside what uniform causal attention would put there.",
          named_for(model, "attention_by_layer")};
}

ReportFigure sink_head_map_figure(const StudiedModel& model) {
  const auto& layers = model.look.attention;
  HeatMap map = head_map(layers, layers.front().by_head.size(),
                         [](const AttentionLayer& layer, size_t h) { return layer.by_head[h].key.mean(); });
  map.title = fmt::format("attention on key {} by layer and head", model.look.key);
  map.color = {.label = "probability", .extent = kUnitExtent};
  return {named_for(model, "sink_per_head_heatmap"), figure_of(panel_of(std::move(map)), {counted(model)}),
          fmt::format("Uniform attention would give {:.3f}.", model.look.key_floor),
          named_for(model, "attention_by_head")};
}

ReportFigure entropy_head_map_figure(const StudiedModel& model) {
  const auto& layers = model.look.attention;
  HeatMap map = head_map(layers, layers.front().by_head.size(), [](const AttentionLayer& layer, size_t h) {
    return layer.by_head[h].mean_entropy();
  });
  map.title = "entropy of attention by layer and head";
  map.color = {.label = "nats"};
  return {named_for(model, "entropy_per_head_heatmap"), figure_of(panel_of(std::move(map)), {counted(model)}),
          "Low entropy: a few keys get everything.", named_for(model, "attention_by_head")};
}

ReportFigure activation_figure(const StudiedModel& model) {
  LineChart chart{.title = "largest absolute value by layer",
                  .x = {.label = "layer", .ticks = TickValues::Whole},
                  .y = {.label = "largest absolute value", .scale = AxisScale::Log}};
  size_t style = 0;
  for (const ActivationMeasure& measure : model.look.activations) {
    Series series{.name = std::string(measure.point.name), .style = style_number(style++)};
    series.style.marker = Marker::Disc;
    for (const ActivationLayer& layer : measure.layers) {
      series.x.push_back(static_cast<double>(layer.layer));
      series.y.push_back(layer.largest.size);
    }
    chart.series.push_back(std::move(series));
  }
  Panel panel = panel_of(std::move(chart), 640, 360);
  return {named_for(model, "activation_per_layer"), figure_of(std::move(panel), {counted(model)}),
          "How large values get at five points of each block.", named_for(model, "activations")};
}

}  // namespace sluice
