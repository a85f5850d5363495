#include "sluice/report/look_tables.h"

#include <fmt/format.h>

#include <algorithm>

#include "sluice/report/figure_parts.h"

namespace sluice {
namespace {

constexpr size_t kRanked = 3;

constexpr NumberFormat kPercent{.style = NumberStyle::Percent, .digits = 2};
constexpr NumberFormat kFourDecimals{.style = NumberStyle::Fixed, .digits = 4};

TableColumn text_column(std::string name) {
  return {.name = std::move(name), .kind = ColumnKind::Text};
}

TableColumn share_column(std::string name, std::string note = "") {
  return {.name = std::move(name), .note = std::move(note), .format = kPercent};
}

TableColumn number_column(std::string name, std::string note = "") {
  return {.name = std::move(name), .note = std::move(note), .format = kFourDecimals};
}

std::vector<TableColumn> distribution_columns() {
  return {
      number_column("mean"),
      number_column("median"),
      number_column("std"),
      share_column("below 0.1", "nearly closed"),
      share_column("below 0.5"),
      share_column("above 0.9", "nearly open"),
      number_column("bimodality", "Sarle's coefficient; 0.555 for a flat distribution, more for two humps")};
}

std::vector<TableCell> distribution_cells(const Distribution& values) {
  return {values.moments().mean(), values.quantile(0.5), values.moments().deviation(), values.closed(),
          values.below_half(),     values.open(),        values.bimodality()};
}

template <class T>
void append(std::vector<T>& to, std::vector<T> from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace

TableCell cell_of(const Uncertain& figure) {
  if (!figure.ci95) return figure.value;
  return Estimate{.value = figure.value, .interval = *figure.ci95};
}

Table gates_by_layer(const StudiedModel& model, const GateMeasure& gate) {
  Table table{.name = named_for(model, gate, "gates_by_layer"),
              .caption = "Gates by layer: " + counted(model, gate),
              .columns = {{.name = "layer"}},
              .view = TableView::Folded};
  append(table.columns, distribution_columns());
  append(table.columns, {number_column("first token"),
                         number_column("other tokens"),
                         {.name = "others / first", .key = "ratio"}});
  for (const GateLayer& layer : gate.layers) {
    std::vector<TableCell> row = {layer.layer};
    append(row, distribution_cells(layer.values));
    append(row, {layer.first.mean(), layer.others.mean(), cell_of(first_token_ratio(layer))});
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table gates_by_head(const StudiedModel& model, const GateMeasure& gate) {
  Table table{.name = named_for(model, gate, "gates_by_head"),
              .caption = "Gates by layer and head: " + counted(model, gate),
              .columns = {{.name = "layer"},
                          {.name = "head"},
                          number_column("mean"),
                          number_column("std"),
                          share_column("below 0.1"),
                          number_column("first token")},
              .view = TableView::Folded};
  for (const GateLayer& layer : gate.layers)
    for (size_t h = 0; h < layer.by_head.size(); ++h) {
      const GateHead& head = layer.by_head[h];
      table.rows.push_back({layer.layer, static_cast<int64_t>(h), head.all.mean(), head.all.deviation(),
                            head.closed_share(), head.first.mean()});
    }
  return table;
}

Table gates_by_position(const StudiedModel& model, const GateMeasure& gate) {
  Table table{.name = named_for(model, gate, "gates_by_position"),
              .caption = "Mean gate by position and layer: " + counted(model, gate),
              .columns = {{.name = "position"}},
              .view = TableView::FileOnly};
  for (const GateLayer& layer : gate.layers)
    table.columns.push_back(
        {.name = fmt::format("layer {}", layer.layer), .key = fmt::format("layer_{}", layer.layer)});
  for (size_t i = 0; i < gate.layers.front().by_position.size(); ++i) {
    std::vector<TableCell> row = {static_cast<int64_t>(i)};
    for (const GateLayer& layer : gate.layers) row.emplace_back(layer.by_position[i].mean());
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table channels_by_layer(const StudiedModel& model, const GateMeasure& gate) {
  Table table{.name = named_for(model, gate, "channels_by_layer"),
              .caption = "Channels by what they do: " + counted(model, gate),
              .columns = {{.name = "layer"},
                          share_column("always closed", "mean below 0.1"),
                          share_column("always open", "mean above 0.9"),
                          share_column("input-dependent", "variance above 0.01")},
              .view = TableView::Folded};
  for (const GateLayer& layer : gate.layers) {
    const ChannelSets sets = layer.channel_sets();
    table.rows.push_back({layer.layer, share_of(sets.closed), share_of(sets.open), share_of(sets.dynamic)});
  }
  return table;
}

Table ranked_heads(const StudiedModel& model, const GateMeasure& gate) {
  struct Head {
    int64_t layer = 0, head = 0;
    double mean = 0;
  };
  std::vector<Head> heads;
  for (const GateLayer& layer : gate.layers)
    for (size_t h = 0; h < layer.by_head.size(); ++h)
      heads.push_back({layer.layer, static_cast<int64_t>(h), layer.by_head[h].all.mean()});
  std::ranges::stable_sort(heads, {}, &Head::mean);
  Table table{
      .name = named_for(model, gate, "ranked_heads"),
      .caption = "The most closed and the most open heads.",
      .columns = {text_column("rank"), {.name = "layer"}, {.name = "head"}, number_column("mean gate")}};
  const size_t shown = std::min(kRanked, heads.size());
  for (size_t i = 0; i < shown; ++i)
    table.rows.push_back(
        {fmt::format("most closed {}", i + 1), heads[i].layer, heads[i].head, heads[i].mean});
  for (size_t i = 0; i < shown; ++i) {
    const Head& head = heads[heads.size() - 1 - i];
    table.rows.push_back({fmt::format("most open {}", i + 1), head.layer, head.head, head.mean});
  }
  return table;
}

Table input_types_table(const StudiedModel& model) {
  Table table{
      .name = named_for(model, "input_types"),
      .caption = fmt::format("Gates by type of text: samples of {} tokens.", model.types->length),
      .columns = {
          text_column("type"), {.name = "samples"}, number_column("mean gate"), share_column("below 0.1")}};
  for (const InputType& type : model.types->types)
    table.rows.push_back({type.label, std::ssize(type.means), cell_of(mean_of_samples(type.means)),
                          Moments::of(type.closed).mean()});
  return table;
}

Table input_type_pairs(const StudiedModel& model) {
  Table table{.name = named_for(model, "input_type_pairs"),
              .caption = "Pairs of types: permutation tests over samples, corrected for all pairs (Holm).",
              .columns = {text_column("type"),
                          text_column("against"),
                          {.name = "difference", .format = {.sign = NumberSign::Always}},
                          {.name = "effect", .unit = "standard deviations", .note = "Hedges' g"},
                          {.name = "p", .note = "corrected"}},
              .view = TableView::Folded};
  const auto& types = model.types->types;
  for (const InputTypePair& pair : model.types->pairs)
    table.rows.push_back(
        {types[pair.first].label, types[pair.second].label, pair.difference, pair.effect, pair.p});
  return table;
}

Table relations_table(const StudiedModel& model) {
  Table table{.name = named_for(model, "gate_relations"),
              .caption = "Pearson correlations of the gate: " + counted(model),
              .columns = {{.name = "layer"}, {.name = "head"}},
              .view = TableView::Folded};
  for (size_t i = 0; i < kGateRelations; ++i)
    table.columns.push_back({.name = words_of(static_cast<GateRelation>(i)),
                             .key = std::string(name_of(static_cast<GateRelation>(i))),
                             .format = kFourDecimals});
  for (const GateLayerRelations& layer : model.look.relations)
    for (size_t h = 0; h < layer.by_head.size(); ++h) {
      std::vector<TableCell> row = {layer.layer, static_cast<int64_t>(h)};
      for (size_t i = 0; i < kGateRelations; ++i)
        row.emplace_back(layer.by_head[h].correlation(static_cast<GateRelation>(i)));
      table.rows.push_back(std::move(row));
    }
  return table;
}

Table extreme_tokens(const StudiedModel& model) {
  Table table{.name = named_for(model, "extreme_tokens"),
              .caption = "Tokens at which each head's gate is most open and most closed, in context.",
              .columns = {{.name = "layer"},
                          {.name = "head"},
                          text_column("gate is"),
                          number_column("gate"),
                          {.name = "token"},
                          text_column("context")},
              .view = TableView::Folded};
  for (const GateLayerRelations& layer : model.look.relations) {
    for (size_t h = 0; h < layer.by_head.size(); ++h) {
      const auto add = [&](const char* kind, const GateExtremes& extremes) {
        for (const GateMoment& moment : extremes.moments())
          table.rows.push_back({layer.layer, static_cast<int64_t>(h), kind, moment.gate,
                                static_cast<int64_t>(moment.token), moment.context});
      };
      add("open", layer.by_head[h].open);
      add("closed", layer.by_head[h].closed);
    }
  }
  // A page of many thousand rows is slow to open.
  if (table.rows.size() > 2000) table.view = TableView::FileOnly;
  return table;
}

Table lens_table(const StudiedModel& model) {
  Table table{
      .name = named_for(model, "logit_lens"),
      .caption =
          fmt::format("What each layer would predict for the prompt of {} tokens.", model.prompt.ids.size()),
      .columns = {{.name = "layer"},
                  {.name = "nll", .unit = "nats per token"},
                  share_column("agreement", "share of tokens where it has the last layer's likeliest token"),
                  {.name = "moved by open gates",
                   .unit = "nats",
                   .note = "mean KL divergence if this layer's gates were 1"}}};
  for (const LensLayer& layer : model.lens->layers) {
    table.rows.push_back({layer.layer, layer.nll, layer.agreement, Missing{}});
    if (layer.moved) table.rows.back().back() = *layer.moved;
  }
  return table;
}

Table sparsity_table(const StudiedModel& model) {
  Table table{.name = named_for(model, "sparsity"),
              .caption = "Shares of attention's output that are nearly nothing: " + counted(model),
              .columns = {{.name = "layer"}},
              .view = TableView::Folded};
  for (const double limit : kNearlyNothing)
    for (const char* place : {"before the gate", "after it", "mean gate"})
      table.columns.push_back(share_column(fmt::format("{} below {}", place, limit)));
  for (const SparsityLayer& layer : model.look.sparsity) {
    const SparsityShares before = layer.shares_before(), after = layer.shares_after();
    const SparsityShares means = layer.shares_with_means(output_gate_means(model.look, layer.layer));
    std::vector<TableCell> row = {layer.layer};
    for (size_t i = 0; i < before.size(); ++i) append(row, {before[i], after[i], means[i]});
    table.rows.push_back(std::move(row));
  }
  return table;
}

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
                          {.name = "position"}},
              .view = TableView::Folded};
  for (const ActivationMeasure& measure : model.look.activations)
    for (const ActivationLayer& layer : measure.layers)
      table.rows.push_back({std::string(measure.point.name), layer.layer, layer.largest.size,
                            layer.largest.channel, layer.largest.sequence, layer.largest.position});
  return table;
}

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
    table.rows.push_back({model.name, model.parameters, cell_of({look.perplexity.ppl, look.perplexity.ci95}),
                          cell_of(sink(look)), cell_of(late_sink(look)), look.key_floor,
                          sink_rate(look.attention, 0.3), look.activations.front().mean()});
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
      row[2] = cell_of(gate_mean(gate));
      append(row, {gate.first().mean(), gate.others().mean(), cell_of(first_token_ratio(gate))});
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
                          cell_of(difference.difference), difference.p});
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
