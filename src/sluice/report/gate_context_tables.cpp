// What goes with an open gate, and what it does: tokens, properties of them, types of text, sparsity, the
// lens.
#include <fmt/format.h>

#include <algorithm>

#include "sluice/plot/token_text.h"
#include "sluice/report/figure_parts.h"
#include "sluice/report/look_tables.h"
#include "sluice/report/table_parts.h"

namespace sluice {

Table input_types_table(const StudiedModel& model) {
  Table table{
      .name = named_for(model, "input_types"),
      .caption = fmt::format("Gates by type of text: samples of {} tokens.", model.types->length),
      .columns = {
          text_column("type"), {.name = "samples"}, number_column("mean gate"), share_column("below 0.1")}};
  for (const InputType& type : model.types->types)
    table.rows.push_back(
        {type.label, std::ssize(type.means), mean_of_samples(type.means), Moments::of(type.closed).mean()});
  return table;
}

Table input_types_by_layer(const StudiedModel& model) {
  const std::vector<InputType>& types = model.types->types;
  Table table{.name = named_for(model, "input_types_by_layer"),
              .caption = fmt::format("Mean gate by type of text and layer: samples of {} tokens.",
                                     model.types->length),
              .columns = {{.name = "layer"}},
              .view = TableView::Folded};
  for (const InputType& type : types) table.columns.push_back(number_column(type.label));
  for (const auto& [layer, moments] : types.front().by_layer) {
    std::vector<TableCell> row = {layer};
    for (const InputType& type : types) row.emplace_back(type.by_layer.at(layer).mean());
    table.rows.push_back(std::move(row));
  }
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
      add("open", layer.by_head[h].extremes.open);
      add("closed", layer.by_head[h].extremes.closed);
    }
  }
  // A page of many thousand rows is slow to open.
  if (table.rows.size() > 2000) table.view = TableView::FileOnly;
  return table;
}

Table gates_by_token(const StudiedModel& model) {
  constexpr size_t kMostRows = 200;  // on a page
  Table table{.name = named_for(model, "gates_by_token"),
              .caption = fmt::format(
                  "Mean gate at g1 of the tokens that occur {} times or more, from closed to open. {}",
                  kOftenEnough, counted(model)),
              .columns = {{.name = "token"},
                          text_column("text"),
                          {.name = "count"},
                          number_column("mean gate", "over layers and heads"),
                          number_column("first", "where it stands first in a sequence"),
                          number_column("elsewhere")},
              .view = TableView::Folded};
  for (const RankedToken& ranked : ranked_tokens(model.look.by_token)) {
    const TokenGates& token = model.look.by_token.at(ranked.token);
    table.rows.push_back({static_cast<int64_t>(ranked.token), token_text(token.text), ranked.count,
                          ranked.mean, token.first.mean(), token.elsewhere().mean()});
  }
  if (table.rows.size() > kMostRows) table.view = TableView::FileOnly;
  return table;
}

Table ranked_token_table(const StudiedModel& model) {
  constexpr size_t kShown = 8;
  Table table{
      .name = named_for(model, "ranked_tokens"),
      .caption = fmt::format("Tokens at which gates are most closed and most open, of those that occur "
                             "{} times or more.",
                             kOftenEnough),
      .columns = {text_column("text"), {.name = "token"}, {.name = "count"}, number_column("mean gate")}};
  const std::vector<RankedToken> ranked = ranked_tokens(model.look.by_token);
  for (size_t i = 0; i < ranked.size(); ++i) {
    if (i >= kShown && i + kShown < ranked.size()) continue;
    table.rows.push_back({token_text(model.look.by_token.at(ranked[i].token).text),
                          static_cast<int64_t>(ranked[i].token), ranked[i].count, ranked[i].mean});
  }
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

}  // namespace sluice
