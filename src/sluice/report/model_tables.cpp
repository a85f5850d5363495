// Models beside each other.
#include <fmt/format.h>

#include <algorithm>

#include "sluice/report/figure_parts.h"
#include "sluice/report/look_tables.h"
#include "sluice/report/table_parts.h"

namespace sluice {

Table models_table(const Study& study) {
  Table table{.name = "models",
              .caption = "Intervals are 95 % bootstraps over sequences.",
              .columns = {text_column("model"),
                          {.name = "parameters"},
                          {.name = "perplexity"},
                          {.name = "sink", .note = "mean probability on the key, mean over layers"},
                          {.name = "late sink", .note = "the same without the first four queries"},
                          number_column("uniform", "what uniform causal attention would put there"),
                          share_column("heads > 0.3", "share of heads whose mean on the key is above 0.3"),
                          {.name = "largest activation",
                           .note = "of the block's output over the whole text, mean over layers"}}};
  for (const StudiedModel& model : study.models) {
    const Look& look = model.look;
    table.rows.push_back({model.name, model.parameters, Estimate{look.perplexity.ppl, look.perplexity.ci95},
                          look.sink, look.late_sink, look.key_floor, sink_rate(look.attention, 0.3),
                          look.activations.front().mean()});
  }
  return table;
}

Table gates_table(const Study& study) {
  Table table{.name = "gates",
              .caption = "All gate values of a model at each of its gate positions.",
              .columns = {text_column("model"), text_column("gate")}};
  append(table.columns, distribution_columns());
  table.columns[2] = {.name = "mean"};
  append(table.columns, {number_column("first token"),
                         number_column("other tokens"),
                         {.name = "others / first", .key = "ratio"}});
  for (const StudiedModel& model : study.models) {
    for (const GateMeasure& gate : model.look.gates) {
      std::vector<TableCell> row = {model.name, std::string(gate.position)};
      append(row, distribution_cells(gate.values()));
      row[2] = gate.mean;
      append(row, {gate.first().mean(), gate.others().mean(), gate.first_ratio});
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

Table differences_table(const ModelComparison& comparison) {
  Table table{
      .name = "differences",
      .caption = fmt::format("Differences from {}, sequence by sequence: mean with 95 % interval, and a test "
                             "by drawn signs, corrected for all rows (Holm).",
                             comparison.study.models.front().name),
      .columns = {text_column("model"),
                  text_column("figure"),
                  {.name = "difference", .format = {.sign = NumberSign::Always}},
                  {.name = "p"}}};
  for (const PairedDifference& difference : comparison.differences)
    table.rows.push_back({comparison.study.models[difference.model].name, difference.figure,
                          difference.difference, difference.p});
  return table;
}

Table compared_layers(const Study& study) {
  Table table{.name = "compared_layers",
              .caption = "Sink and largest block output by layer.",
              .columns = {text_column("model"),
                          {.name = "layer"},
                          number_column("on the key"),
                          {.name = "largest activation"},
                          number_column("mean gate")},
              .view = TableView::Folded};
  for (const StudiedModel& model : study.models) {
    const GateMeasure* gate = model.look.output_gate();
    for (const ActivationLayer& layer : model.look.activations.front().layers) {
      std::vector<TableCell> row = {model.name, layer.layer, Missing{}, layer.largest.size, Missing{}};
      const auto attention = std::ranges::find(model.look.attention, layer.layer, &AttentionLayer::layer);
      if (attention != model.look.attention.end()) row[2] = attention->all().mean();
      if (gate != nullptr) {
        const auto own = std::ranges::find(gate->layers, layer.layer, &GateLayer::layer);
        if (own != gate->layers.end()) row[4] = own->values.moments().mean();
      }
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

}  // namespace sluice
