// What is compared: types of text, two texts, several models.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "sluice/plot/bar_chart.h"
#include "sluice/plot/panels.h"
#include "sluice/plot/ridge_chart.h"
#include "sluice/report/figure_parts.h"
#include "sluice/report/look_figures.h"

namespace sluice {
namespace {

// Of any of the models.
std::set<int64_t> gated_layers(const Study& study) {
  std::set<int64_t> layers;
  for (const StudiedModel& model : study.models)
    if (const GateMeasure* gate = model.look.output_gate())
      for (const GateLayer& layer : gate->layers) layers.insert(layer.layer);
  return layers;
}

// A line for each type.
LineChart type_profiles(const InputTypes& types) {
  LineChart chart{.title = "mean gate by layer",
                  .x = {.label = "layer", .ticks = TickValues::Whole},
                  .y = {.label = "mean gate"}};
  for (const InputType& type : types.types) {
    Series series{.name = type.label, .style = style_number(chart.series.size())};
    for (const auto& [layer, moments] : type.by_layer) {
      series.x.push_back(static_cast<double>(layer));
      series.y.push_back(moments.mean());
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

}  // namespace

ReportFigure input_types_figure(const StudiedModel& model) {
  const InputTypes& types = *model.types;
  CategoryAxis axis{.label = "type of text"};
  BarGroup means, closed;
  for (const InputType& type : types.types) {
    axis.names.push_back(type.label);
    const Estimate mean = mean_of_samples(type.means);
    means.values.push_back(mean.value);
    means.low.push_back(mean.ci95 ? mean.ci95->low : kNoValue);
    means.high.push_back(mean.ci95 ? mean.ci95->high : kNoValue);
    closed.values.push_back(Moments::of(type.closed).mean());
  }
  Panels panels{.columns = 2,
                .caption = {fmt::format("{}: samples of {} tokens; whiskers: 95 % intervals over samples.",
                                        model.name, types.length)}};
  panels.panels.push_back(
      panel_of(BarChart{.title = "mean gate", .x = axis, .y = {.label = "mean gate"}, .groups = {means}}));
  panels.panels.push_back(panel_of(
      BarChart{.title = "nearly closed", .x = axis, .y = {.label = "share below 0.1"}, .groups = {closed}}));
  panels.panels.push_back(panel_of(type_profiles(types), 420, 300));
  return {named_for(model, "cross_prompt_comparison"), figure_of(std::move(panels)),
          "Gates on different types of text of the same length.", named_for(model, "input_types")};
}

ReportFigure second_text_figure(const StudiedModel& model, const GateMeasure& first,
                                const GateMeasure& second) {
  const auto means = [](const GateMeasure& gate) {
    return by_layer(gate.layers, [](const GateLayer& layer) { return layer.values.moments().mean(); });
  };
  Panels panels{.columns = 2,
                .caption = {fmt::format("First text: {} Second: {} tokens in {} sequences of {}.",
                                        counted(model, first), model.second->tokens, model.second->sequences,
                                        model.second->length)}};
  panels.panels.push_back(panel_of(BarChart{.title = "mean gate by layer",
                                            .x = layer_axis(first.layers),
                                            .y = {.label = "mean gate"},
                                            .groups = {{.name = "first text", .values = means(first)},
                                                       {.name = "second text", .values = means(second)}}}));
  panels.panels.push_back(panel_of(
      RidgeChart{.title = "all gate values",
                 .x = {.label = "gate"},
                 .y_label = "text",
                 .ridges = {{"first", bins_of(first.values())}, {"second", bins_of(second.values())}},
                 .height = RidgeHeight::Common}));
  return {named_for(model, first, "second_text"), figure_of(std::move(panels)),
          "The same gates on a second kind of text.", named_for(model, first, "second_text")};
}

ReportFigure compared_gates_figure(const Study& study) {
  Panels panels{.columns = 2};
  RidgeChart ridges{
      .title = "all gate values", .x = {.label = "gate"}, .y_label = "model", .height = RidgeHeight::Common};
  const std::set<int64_t> layers = gated_layers(study);
  BarChart means{.title = "mean gate by layer", .x = {.label = "layer"}, .y = {.label = "mean gate"}};
  for (const int64_t layer : layers) means.x.names.push_back(std::to_string(layer));
  for (const StudiedModel& model : study.models) {
    const GateMeasure* gate = model.look.output_gate();
    if (gate == nullptr) continue;
    ridges.ridges.push_back({model.name, bins_of(gate->values())});
    BarGroup& group = means.groups.emplace_back(BarGroup{.name = model.name});
    for (const int64_t layer : layers) {
      const auto own = std::ranges::find(gate->layers, layer, &GateLayer::layer);
      group.values.push_back(own == gate->layers.end() ? kNoValue : own->values.moments().mean());
    }
    panels.caption.push_back(counted(model));
  }
  panels.panels.push_back(panel_of(std::move(ridges)));
  panels.panels.push_back(panel_of(std::move(means)));
  return {"headwise_vs_elementwise_comparison", figure_of(std::move(panels)),
          "The gates of these models beside each other."};
}

ReportFigure compared_layers_figure(const Study& study) {
  LineChart sinks{.title = "attention on the key",
                  .x = {.label = "layer", .ticks = TickValues::Whole},
                  .y = {.label = "mean probability"}};
  LineChart sizes{.title = "largest block output",
                  .x = {.label = "layer", .ticks = TickValues::Whole},
                  .y = {.label = "largest absolute value", .scale = AxisScale::Log}};
  size_t style = 0;
  Panels panels{.columns = 2};
  for (const StudiedModel& model : study.models) {
    Series sink{.name = model.name, .style = style_number(style++)};
    sink.style.marker = Marker::Disc;
    Series size = sink;
    for (const AttentionLayer& layer : model.look.attention) {
      sink.x.push_back(static_cast<double>(layer.layer));
      sink.y.push_back(layer.all().mean());
    }
    for (const ActivationLayer& layer : model.look.activations.front().layers) {
      size.x.push_back(static_cast<double>(layer.layer));
      size.y.push_back(layer.largest.size);
    }
    sinks.series.push_back(std::move(sink));
    sizes.series.push_back(std::move(size));
    panels.caption.push_back(counted(model));
  }
  panels.panels.push_back(panel_of(std::move(sinks), 420, 300));
  panels.panels.push_back(panel_of(std::move(sizes), 420, 300));
  return {"compared_layers", figure_of(std::move(panels)),
          "Sink and massive activation of each model, layer by layer.", "compared_layers"};
}

}  // namespace sluice
