#include "sluice/report/ablation_tables.h"

#include <fmt/format.h>

#include <cmath>

namespace sluice {
namespace {

constexpr NumberFormat kNllChange{.style = NumberStyle::Significant, .digits = 4, .sign = NumberSign::Always};
constexpr const char* kSimultaneous = "interval that decides: for all comparisons, at every time of stopping";
constexpr NumberFormat kDamageShare{.style = NumberStyle::Percent, .digits = 1};

TableCell index_cell(const std::optional<int64_t>& index) {
  return index ? TableCell(*index) : TableCell(Missing{});
}

TableCell simultaneous_cell(double value, const std::optional<Interval>& interval) {
  return interval ? TableCell(Estimate{value, *interval}) : TableCell(Missing{});
}

TableColumn word_column(const char* name) {
  return {.name = name, .kind = ColumnKind::Text};
}

std::vector<TableColumn> run_columns() {
  return {word_column("text"),
          word_column("run"),
          word_column("group"),
          word_column("action"),
          {.name = "layer"},
          {.name = "head"},
          {.name = "nll",
           .key = "nll_change",
           .unit = "nats per token",
           .note = "change, 95 % bootstrap, of itself",
           .format = kNllChange},
          {.name = "holds for all", .key = "nll_simultaneous", .note = kSimultaneous, .format = kNllChange},
          {.name = "perplexity", .key = "ppl"},
          {.name = "x", .key = "ppl_ratio", .note = "perplexity, broken / unbroken"},
          {.name = "KL", .key = "kl", .unit = "nats per token"},
          {.name = "top-1 changed", .key = "changed_top1", .format = kDamageShare},
          {.name = "sink",
           .key = "sink_change",
           .note = "change of attention on the first token",
           .format = kNllChange},
          {.name = "max act",
           .key = "largest_activation_change",
           .note = "change of the largest |block output|",
           .format = kNllChange},
          {.name = "p", .key = "corrected_p", .note = "times all comparisons", .format = {.digits = 2}},
          {.name = "chunks"},
          word_column("verdict"),
          word_column("why")};
}

std::vector<TableCell> run_row(const std::string& text, const PlannedRun& run, const RunEffect& effect) {
  return {text,
          run.name,
          run.group,
          run.action,
          index_cell(run.layer),
          index_cell(run.head),
          TableCell(effect.nll),
          simultaneous_cell(effect.nll.value, effect.sequence),
          effect.ppl,
          TableCell(effect.ppl_ratio),
          effect.kl,
          effect.changed_top1,
          TableCell(effect.sink),
          TableCell(effect.activation),
          effect.corrected_p,
          effect.chunks,
          std::string(name_of(effect.verdict)),
          effect.reason};
}

std::string damage_word(RunVerdict verdict) {
  if (verdict == RunVerdict::Worse) return "more";
  return verdict == RunVerdict::Better ? "less" : name_of(verdict);
}

}  // namespace

std::string named_for(const AblatedModel& model, const char* what) {
  return fmt::format("{}_{}", model.name, what);
}

Table ablated_models(const AblationResult& result) {
  Table table{.name = "ablated_models",
              .caption = "The unbroken models on what was seen of each text",
              .columns = {word_column("model"),
                          word_column("text"),
                          {.name = "parameters"},
                          {.name = "runs"},
                          {.name = "equal",
                           .key = "equal_runs",
                           .note = "of the runs: others under a second name, not run again"},
                          {.name = "chunks", .note = "seen by the run that needed most"},
                          {.name = "of", .key = "chunks_there"},
                          {.name = "perplexity", .key = "ppl"},
                          {.name = "sink"},
                          {.name = "max act", .key = "largest_activation"},
                          {.name = "share of all",
                           .key = "share_of_exhaustive",
                           .note = "evaluations made, of different runs x chunks: 100 % with --exhaustive",
                           .format = kDamageShare}}};
  for (const AblatedModel& model : result.models) {
    for (const AblatedText& text : model.texts) {
      const int64_t seen = evaluations_made(model, text);
      const auto all = static_cast<double>(evaluations_there(model, text));
      table.rows.push_back({model.name, text.name, model.parameters, std::ssize(text.effects),
                            equal_run_count(model), std::ssize(text.base_by_chunk), text.chunks,
                            Estimate{text.base.ppl, text.base.ci95}, text.base_sink, text.base_activation,
                            static_cast<double>(seen) / all});
    }
  }
  return table;
}

Table ablated_runs(const AblatedModel& model) {
  Table table{.name = named_for(model, "runs"),
              .caption = "Every run against the unbroken model on the same chunks",
              .columns = run_columns(),
              .view = TableView::Folded};
  for (const AblatedText& text : model.texts)
    for (size_t i = 0; i < text.effects.size(); ++i)
      table.rows.push_back(run_row(text.name, model.plan.runs[i], text.effects[i]));
  return table;
}

Table ablated_places(const AblatedModel& model, const char* group) {
  Table table{
      .name = named_for(model, group),
      .caption =
          "On the chunks that all runs of an action have in common, with 95 % intervals over chunks; shares "
          "are of the damage of all, what got better counting as none",
      .columns = {word_column("text"),
                  word_column("action"),
                  {.name = "layer"},
                  {.name = "head"},
                  {.name = "nll", .key = "nll_change", .unit = "nats per token", .format = kNllChange},
                  {.name = "perplexity", .key = "ppl_change", .format = kNllChange},
                  {.name = "share of nll", .key = "nll_share", .format = kDamageShare},
                  {.name = "share of ppl", .key = "ppl_share", .format = kDamageShare},
                  {.name = "chunks", .key = "common_chunks"},
                  {.name = "verdict",
                   .note = "of its run; of draws, if all have it",
                   .kind = ColumnKind::Text}},
      .view = TableView::Folded};
  for (const AblatedText& text : model.texts) {
    for (const std::string& action : actions_of(model.plan, group)) {
      const EffectProfile profile = effect_profile(model, text, group, action, ProfileIntervals::Bootstrap);
      for (const PlaceEffect& place : ranked(profile))
        table.rows.push_back({text.name, action, place.layer, index_cell(place.head),
                              Estimate{place.nll, place.nll_ci95}, Estimate{place.ppl, place.ppl_ci95},
                              Estimate{place.nll_share, place.nll_share_ci95},
                              Estimate{place.ppl_share, place.ppl_share_ci95}, profile.chunks,
                              std::string(name_of(place.verdict))});
    }
  }
  return table;
}

Table control_table(const AblatedModel& model, const StoppingRule& rule) {
  Table table{.name = named_for(model, "controls"),
              .caption = "Each run minus its control, in pairs of chunks that both have",
              .columns = {word_column("text"),
                          word_column("run"),
                          word_column("control"),
                          {.name = "run nll", .key = "run_nll_change", .format = kNllChange},
                          {.name = "control nll", .key = "control_nll_change", .format = kNllChange},
                          {.name = "difference", .note = "95 % bootstrap, of itself", .format = kNllChange},
                          {.name = "holds for all",
                           .key = "difference_simultaneous",
                           .note = kSimultaneous,
                           .format = kNllChange},
                          {.name = "chunks"},
                          {.name = "damage",
                           .key = "verdict",
                           .note = "of the run beside its control's: more, less, equivalent or undecided",
                           .kind = ColumnKind::Text}},
              .view = TableView::Folded};
  for (const AblatedText& text : model.texts)
    for (const ControlPair& pair : control_pairs(model, text, rule))
      table.rows.push_back({text.name, model.plan.runs[pair.run].name, model.plan.runs[pair.control].name,
                            pair.run_nll, pair.control_nll, TableCell(pair.difference),
                            simultaneous_cell(pair.difference.value, pair.sequence), pair.chunks,
                            damage_word(pair.verdict)});
  return table;
}

Table sensitivity_table(const std::vector<LayerSensitivity>& texts, const std::string& name) {
  Table table{.name = name,
              .caption = fmt::format("Layers {}: Cook's distance above {:.3f} is an outlier",
                                     texts.front().action, texts.front().statistics.threshold),
              .columns = {word_column("text"),
                          {.name = "layer"},
                          {.name = "nearly closed",
                           .key = "closed",
                           .note = "share of gates below 0.1",
                           .format = kDamageShare},
                          {.name = "nll", .key = "nll_change", .format = kNllChange},
                          {.name = "leverage"},
                          {.name = "Cook's distance", .key = "cook"}},
              .view = TableView::Folded};
  for (const LayerSensitivity& layers : texts) {
    for (size_t i = 0; i < layers.layers.size(); ++i) {
      const bool known = !layers.statistics.influence.empty();
      table.rows.push_back({layers.text, layers.layers[i], layers.closed[i],
                            Estimate{layers.nll[i], layers.nll_ci95[i]},
                            known ? TableCell(layers.statistics.influence[i].leverage) : TableCell(Missing{}),
                            known ? TableCell(layers.statistics.influence[i].cook) : TableCell(Missing{})});
    }
  }
  return table;
}

Table estimates_table(const AblatedModel& model) {
  Table table{
      .name = named_for(model, "estimates"),
      .caption =
          "Estimated from gradients; measured, one alone, where it was run. First order estimates "
          "changing one alone; integrated is its share of what changing all gates together does, of another "
          "size by construction",
      .columns = {word_column("gate"),
                  word_column("action"),
                  word_column("method"),
                  {.name = "layer"},
                  {.name = "head"},
                  {.name = "estimated",
                   .key = "estimated_nll_change",
                   .unit = "nats per token",
                   .format = kNllChange},
                  {.name = "measured", .key = "nll_change", .unit = "nats per token", .format = kNllChange}},
      .view = TableView::Folded};
  const std::vector<EstimateComparison> comparisons = compare_estimates(model);
  const auto measured = [&](const ActionEstimates& of, int64_t layer,
                            std::optional<int64_t> head) -> TableCell {
    for (const EstimateComparison& comparison : comparisons) {
      if (comparison.tap != of.tap || comparison.method != of.method ||
          comparison.of_heads != head.has_value() || comparison.action != action_in_plan(of.action))
        continue;
      for (size_t i = 0; i < comparison.places.size(); ++i)
        if (comparison.places[i].layer == layer && comparison.places[i].head == head)
          return Estimate{comparison.exact[i], comparison.places[i].nll_ci95};
    }
    return Missing{};
  };
  for (const ActionEstimates& of : model.estimates->estimates) {
    const std::string action(name_of(of.action)), method(name_of(of.method));
    for (const LayerEstimate& layer : of.layers) {
      table.rows.push_back({of.tap, action, method, layer.layer, Missing{},
                            Estimate{layer.whole.nll, layer.whole.ci95}, measured(of, layer.layer, {})});
      for (int64_t head = 0; head < std::ssize(layer.heads); ++head) {
        const EstimatedEffect& effect = layer.heads[static_cast<size_t>(head)];
        table.rows.push_back({of.tap, action, method, layer.layer, head, Estimate{effect.nll, effect.ci95},
                              measured(of, layer.layer, head)});
      }
    }
  }
  return table;
}

Table shares_table(const AblationResult& result) {
  Table table{.name = "damage_shares",
              .caption = "Share of each layer in the damage of all layers broken one at a time",
              .columns = {word_column("model"),
                          word_column("text"),
                          word_column("action"),
                          {.name = "layer"},
                          {.name = "share of nll", .key = "nll_share", .format = kDamageShare},
                          {.name = "share of ppl", .key = "ppl_share", .format = kDamageShare}},
              .view = TableView::Folded};
  for (const AblatedModel& model : result.models)
    for (const AblatedText& text : model.texts)
      for (const std::string& action : actions_of(model.plan, "layers"))
        for (const PlaceEffect& place :
             effect_profile(model, text, "layers", action, ProfileIntervals::Bootstrap).places)
          table.rows.push_back({model.name, text.name, action, place.layer,
                                Estimate{place.nll_share, place.nll_share_ci95},
                                Estimate{place.ppl_share, place.ppl_share_ci95}});
  return table;
}

}  // namespace sluice
