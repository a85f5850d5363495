// Where attention goes and how large values get.
#include <fmt/format.h>

#include <algorithm>

#include "sluice/analysis/gate_agreement.h"
#include "sluice/report/figure_parts.h"
#include "sluice/report/look_tables.h"
#include "sluice/report/table_parts.h"

namespace sluice {
namespace {

TableCell token_cell(const LargestValue& largest) {
  return largest.token ? TableCell(static_cast<int64_t>(*largest.token)) : TableCell(Missing{});
}

}  // namespace

Table attention_by_layer(const StudiedModel& model) {
  Table table{.name = named_for(model, "attention_by_layer"),
              .caption = fmt::format("Attention on key {}; uniform attention would give {:.4f}. {}",
                                     model.look.key, model.look.key_floor, counted(model)),
              .columns = {{.name = "layer"},
                          number_column("on the key"),
                          number_column("without the first 4 queries"),
                          {.name = "largest head", .format = kFourDecimals},
                          number_column("entropy", "nats, mean")},
              .view = TableView::Folded};
  for (const AttentionLayer& layer : model.look.attention) {
    double largest = 0, entropy = 0;
    for (const AttentionHead& head : layer.by_head) {
      largest = std::max(largest, head.key.mean());
      entropy += head.mean_entropy() / static_cast<double>(layer.by_head.size());
    }
    table.rows.push_back({layer.layer, layer.all().mean(), layer.all().late_mean(), largest, entropy});
  }
  return table;
}

Table attention_by_head(const StudiedModel& model) {
  Table table{.name = named_for(model, "attention_by_head"),
              .caption = fmt::format("Attention on key {} by head. {}", model.look.key, counted(model)),
              .columns = {{.name = "layer"},
                          {.name = "head"},
                          number_column("on the key"),
                          number_column("without the first 4 queries"),
                          number_column("entropy", "nats, mean")},
              .view = TableView::Folded};
  for (const AttentionLayer& layer : model.look.attention)
    for (size_t h = 0; h < layer.by_head.size(); ++h) {
      const AttentionHead& head = layer.by_head[h];
      table.rows.push_back(
          {layer.layer, static_cast<int64_t>(h), head.key.mean(), head.key.late_mean(), head.mean_entropy()});
    }
  return table;
}

Table activations_table(const StudiedModel& model) {
  Table table{.name = named_for(model, "activations"),
              .caption = "The largest absolute value at each point, and where it is. " + counted(model),
              .columns = {text_column("point"),
                          {.name = "layer"},
                          {.name = "largest"},
                          {.name = "channel"},
                          {.name = "sequence"},
                          {.name = "position"},
                          {.name = "token"},
                          text_column("context")},
              .view = TableView::Folded};
  for (const ActivationMeasure& measure : model.look.activations)
    for (const ActivationLayer& layer : measure.layers)
      table.rows.push_back({std::string(measure.point.name), layer.layer, layer.largest.size,
                            layer.largest.channel, layer.largest.sequence, layer.largest.position,
                            token_cell(layer.largest), layer.largest.context});
  return table;
}

Table sink_rates(const StudiedModel& model) {
  Table table{
      .name = named_for(model, "sink_rates"),
      .caption = fmt::format("Heads whose mean probability on key {} exceeds a limit. {}", model.look.key,
                             counted(model)),
      .columns = {{.name = "above", .key = "epsilon", .format = {.style = NumberStyle::Fixed, .digits = 1}},
                  share_column("heads", "of all layers"),
                  number_column("same heads",
                                "Jaccard index of the sets that two halves of the text "
                                "give; 1: the same heads")}};
  for (const double epsilon : kSinkRates)
    table.rows.push_back({epsilon, sink_rate(model.look.attention, epsilon),
                          sink_set_agreement(model.look.attention, epsilon)});
  return table;
}

}  // namespace sluice
