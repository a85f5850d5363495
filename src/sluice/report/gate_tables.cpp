// Where gates are open: by layer, head, position and channel.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "sluice/report/figure_parts.h"
#include "sluice/report/look_tables.h"
#include "sluice/report/table_parts.h"

namespace sluice {
namespace {

constexpr size_t kRanked = 3;  // at each end

std::span<const Moments> channels_of_head(const std::vector<Moments>& channels, const GateLayer& layer,
                                          int64_t head) {
  return std::span(channels).subspan(static_cast<size_t>(head * layer.width),
                                     static_cast<size_t>(layer.width));
}

// Something that has a mean gate: in all sequences, and in both halves of them.
struct RankedUnit {
  std::string name;
  std::array<Moments, 2> halves = {};

  double mean() const {
    Moments all = halves[0];
    all.add(halves[1]);
    return all.mean();
  }
};

struct RankedUnits {
  std::vector<RankedUnit> heads, layers, head_numbers;
};

RankedUnits units_of(const GateMeasure& gate) {
  RankedUnits units;
  for (int64_t h = 0; h < gate.layers.front().heads; ++h)
    units.head_numbers.push_back({fmt::format("head {} of all layers", h)});
  for (const GateLayer& layer : gate.layers) {
    RankedUnit& whole = units.layers.emplace_back(RankedUnit{fmt::format("layer {}", layer.layer)});
    for (int64_t h = 0; h < layer.heads; ++h) {
      RankedUnit head{fmt::format("layer {}, head {}", layer.layer, h)};
      for (size_t half = 0; half < head.halves.size(); ++half) {
        for (const Moments& channel : channels_of_head(layer.channels[half], layer, h))
          head.halves[half].add(channel);
        whole.halves[half].add(head.halves[half]);
        units.head_numbers[static_cast<size_t>(h)].halves[half].add(head.halves[half]);
      }
      units.heads.push_back(std::move(head));
    }
  }
  return units;
}

void add_ranked_units(Table& table, std::vector<RankedUnit> units) {
  std::ranges::stable_sort(units, {}, &RankedUnit::mean);
  const auto add = [&](const char* end, size_t rank, const RankedUnit& unit) {
    table.rows.push_back({unit.name, end, static_cast<int64_t>(rank), unit.mean(), unit.halves[0].mean(),
                          unit.halves[1].mean()});
  };
  const size_t shown = std::min(kRanked, units.size() / 2);  // none at both ends
  for (size_t i = 0; i < shown; ++i) add("closed", i + 1, units[i]);
  for (size_t i = 0; i < shown; ++i) add("open", i + 1, units[units.size() - 1 - i]);
}

}  // namespace

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
    append(row, {layer.first.mean(), layer.others.mean(), layer.first_ratio});
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

Table channels_by_head(const StudiedModel& model, const GateMeasure& gate) {
  Table table{.name = named_for(model, gate, "channels_by_head"),
              .caption = "Channels by what they do, in each head: " + counted(model, gate),
              .columns = {{.name = "layer"},
                          {.name = "head"},
                          share_column("always closed", "mean below 0.1"),
                          share_column("always open", "mean above 0.9"),
                          share_column("input-dependent", "variance above 0.01")},
              .view = TableView::Folded};
  for (const GateLayer& layer : gate.layers) {
    const std::vector<Moments> channels = layer.all_channels();
    for (int64_t h = 0; h < layer.heads; ++h) {
      const ChannelSets sets = sets_of(channels_of_head(channels, layer, h));
      table.rows.push_back(
          {layer.layer, h, share_of(sets.closed), share_of(sets.open), share_of(sets.dynamic)});
    }
  }
  return table;
}

Table ranked_gates(const StudiedModel& model, const GateMeasure& gate) {
  Table table{.name = named_for(model, gate, "ranked_gates"),
              .caption = "The most closed and the most open, and what two halves of the text say of them: " +
                         counted(model, gate),
              .columns = {text_column("what"),
                          text_column("most"),
                          {.name = "rank"},
                          number_column("mean gate"),
                          number_column("one half", "every other sequence"),
                          number_column("other half", "the rest")}};
  const RankedUnits units = units_of(gate);
  add_ranked_units(table, units.heads);
  add_ranked_units(table, units.layers);
  add_ranked_units(table, units.head_numbers);
  return table;
}

Table first_words_table(const StudiedModel& model, const GateMeasure& gate) {
  Table table{.name = named_for(model, gate, "first_words"),
              .caption = fmt::format("Gates of {} sequences of {} tokens, each beginning with another token.",
                                     model.first_words->sequences, model.first_words->length),
              .columns = {{.name = "layer"},
                          number_column("first token"),
                          number_column("other tokens"),
                          {.name = "others / first", .key = "ratio"}},
              .view = TableView::Folded};
  for (const GateLayer& layer : gate.layers)
    table.rows.push_back({layer.layer, layer.first.mean(), layer.others.mean(), layer.first_ratio});
  return table;
}

Table second_text_table(const StudiedModel& model, const GateMeasure& gate, const GateMeasure& second) {
  Table table{.name = named_for(model, gate, "second_text"),
              .caption = "Gates on the first and on the second text: " + counted(model, gate),
              .columns = {{.name = "layer"},
                          number_column("mean, first text"),
                          number_column("mean, second text"),
                          share_column("below 0.1, first text"),
                          share_column("below 0.1, second text"),
                          {.name = "others / first, first text", .key = "ratio_first_text"},
                          {.name = "others / first, second text", .key = "ratio_second_text"}},
              .view = TableView::Folded};
  const bool has_channels = gate.layers.front().width > 1;
  if (has_channels)
    append(table.columns,
           {share_column("always closed, first text"), share_column("always closed, second text")});
  for (size_t i = 0; i < gate.layers.size(); ++i) {
    const GateLayer &one = gate.layers[i], &other = second.layers[i];
    std::vector<TableCell> row = {
        one.layer,           one.values.moments().mean(), other.values.moments().mean(),
        one.values.closed(), other.values.closed(),       one.first_ratio,
        other.first_ratio};
    if (has_channels)
      append(row, {share_of(one.channel_sets().closed), share_of(other.channel_sets().closed)});
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace sluice
