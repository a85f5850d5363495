#include "sluice/report/experts_section.h"

#include <fmt/format.h>

#include "sluice/plot/heat_map.h"
#include "sluice/plot/panels.h"
#include "sluice/report/figure_parts.h"

namespace sluice {
namespace {

constexpr NumberFormat kLoadFormat{.style = NumberStyle::Fixed, .digits = 4};

Table experts_table(const StudiedModel& model) {
  Table table{.name = named_for(model, "experts_by_layer"),
              .caption = "Experts by layer: " + counted(model),
              .columns = {{.name = "layer"},
                          {.name = "experts"},
                          {.name = "load entropy",
                           .note = "of the experts' shares of the choices; 1 for a perfect balance",
                           .format = kLoadFormat},
                          {.name = "largest load",
                           .note = "times an even share; 1 for a perfect balance",
                           .format = kLoadFormat},
                          {.name = "dead", .note = "experts that no token chose"},
                          {.name = "router entropy",
                           .note = "of a token's probabilities; 1 if the router has no preference",
                           .format = kLoadFormat}}};
  for (const ExpertsLayer& layer : model.look.experts)
    table.rows.push_back({layer.layer, layer.experts(), layer.load_entropy(), layer.largest_load(),
                          layer.dead(), layer.router_entropy()});
  return table;
}

ReportFigure load_figure(const StudiedModel& model) {
  const std::vector<ExpertsLayer>& layers = model.look.experts;
  const auto experts = static_cast<size_t>(layers.front().experts());
  HeatMap map = head_map(layers, experts, [&](const ExpertsLayer& layer, size_t e) {
    return layer.share(e) * static_cast<double>(experts);
  });
  map.title = "load by layer and expert";
  map.x.label = "expert";
  map.color = {.label = "times an even share"};
  return {named_for(model, "expert_load"), figure_of(panel_of(std::move(map)), {counted(model)}),
          "How many tokens chose each expert: 1 is an even share.", named_for(model, "experts_by_layer")};
}

}  // namespace

std::string experts_sentence(const StudiedModel& model) {
  const ExpertsPulse pulse = pulse_of(model.look.experts);
  return fmt::format(
      "{}, {} experts in {} layers: load entropy {:.4f}, largest load {:.2f} times an even share, {} dead; "
      "router entropy {:.4f}.",
      model.name, model.look.experts.front().experts(), model.look.experts.size(), pulse.load_entropy,
      pulse.largest_load, pulse.dead, pulse.router_entropy);
}

Section experts_section(const StudiedModel& model) {
  return {.title = model.name + ": experts",
          .blocks = {Paragraph{experts_sentence(model)}, load_figure(model), experts_table(model)}};
}

}  // namespace sluice
