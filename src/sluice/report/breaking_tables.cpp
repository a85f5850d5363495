// What breaking the models of an experiment did, as tables and a figure.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "sluice/experiment/experiment_effects.h"
#include "sluice/plot/bar_chart.h"
#include "sluice/plot/panels.h"
#include "sluice/report/experiment_parts.h"

namespace sluice {
namespace {

constexpr NumberFormat kSignedNats{.style = NumberStyle::Fixed, .digits = 4, .sign = NumberSign::Always};
constexpr NumberFormat kShare{.style = NumberStyle::Fixed, .digits = 3};

// Of removed heads.
const TableColumn kRemovedLoss{
    .name = "change of loss", .key = "removed_loss", .unit = "nats per token", .format = kSignedNats};
const TableColumn kTrainedOnLoss{
    .name = "after training on", .key = "trained_on_loss", .unit = "nats per token", .format = kSignedNats};

std::vector<const BrokenRun*> broken_runs(const ExperimentResult& result, const PlannedVariant& variant) {
  std::vector<const BrokenRun*> runs;
  for (const BrokenRun& run : result.broken)
    if (run.variant == variant.point.name()) runs.push_back(&run);
  return runs;
}

// An earlier look at what breaking does was not planned: until then means have no intervals.
bool all_seeds_have_ended(const ExperimentResult& result, const PlannedVariant& variant) {
  return std::ranges::count(result.runs, variant.point.name(), &MeasuredTraining::variant) ==
         result.experiment.seeds;
}

// Over the broken runs of a variant that have such a number.
template <class Value>
std::optional<MeanInterval> over_broken(const ExperimentResult& result, const PlannedVariant& variant,
                                        Value value) {
  std::vector<double> values;
  for (const BrokenRun* run : broken_runs(result, variant))
    if (!std::isnan(value(*run))) values.push_back(value(*run));
  std::optional<MeanInterval> mean = mean_effect(values);
  if (mean && !all_seeds_have_ended(result, variant)) mean->half_width.reset();
  return mean;
}

// Means of attention on the first token.
TableCell sink_cell(const std::optional<MeanInterval>& mean) {
  const auto figures = experiment_figures();
  return cell_over_seeds(
      mean, possible_values(*std::ranges::find(figures, &MeasuredTraining::sink, &ExperimentFigure::value)));
}

bool any_beyond_numbers(const ExperimentResult& result) {
  return std::ranges::any_of(result.broken, [](const BrokenRun& run) {
    return std::ranges::any_of(run.effects,
                               [](const BrokenRun::Effect& effect) { return std::isinf(effect.loss); });
  });
}

std::optional<MeanInterval> shown_effect(const ExperimentResult& result, const PlannedVariant& variant,
                                         size_t intervention) {
  return effect_at_look(result, variant, intervention).planned.shown();
}

std::string intervals_text(const ExperimentResult& result) {
  const bool all = std::ranges::all_of(result.variants, [&](const PlannedVariant& variant) {
    return broken_runs(result, variant).empty() || all_seeds_have_ended(result, variant);
  });
  if (all) return fmt::format("with {} intervals", confidence_text(kUsualError));
  return fmt::format("without intervals before the runs of all {} planned seeds have ended",
                     result.experiment.seeds);
}

std::vector<TableCell> intervention_row(const ExperimentResult& result, const PlannedVariant& variant,
                                        size_t intervention) {
  const std::vector<double> effects = effects_on_loss(result, variant, intervention);
  const bool has_mean = beyond_numbers(effects) == 0;
  const auto sink =
      over_broken(result, variant, [&](const BrokenRun& run) { return run.effects[intervention].sink; });
  return {result.experiment.breaking->interventions[intervention].name,
          variant.point.name(),
          std::ssize(effects),
          worse_by_more(effects, result.experiment.equal_loss),
          cell_over_seeds(shown_effect(result, variant, intervention)),
          sink_cell(has_mean ? sink : std::nullopt),
          sink_cell(over_broken(result, variant, [](const BrokenRun& run) { return run.sink; }))};
}

Table interventions_table(const ExperimentResult& result) {
  Table table{
      .name = result.experiment.name + "-interventions",
      .caption =
          fmt::format("Means over seeds {}, each model on {} held-out sequences; worse: models whose "
                      "loss rises by more than {}",
                      intervals_text(result), result.broken.front().sequences, result.experiment.equal_loss),
      .columns = {{.name = "intervention", .kind = ColumnKind::Text},
                  {.name = "variant", .kind = ColumnKind::Text},
                  {.name = "models"},
                  {.name = "worse"},
                  {.name = "change of loss", .key = "loss", .unit = "nats per token", .format = kSignedNats},
                  {.name = "sink", .format = kShare},
                  {.name = "sink before", .key = "sink_before", .format = kShare}}};
  const bool counts_beyond = any_beyond_numbers(result);
  if (counts_beyond) {
    table.caption += "; no mean where the perplexity of a model is beyond all numbers";
    table.columns.push_back({.name = "beyond all numbers", .key = "beyond_numbers"});
  }
  for (size_t i = 0; i < result.experiment.breaking->interventions.size(); ++i) {
    for (const PlannedVariant& variant : result.variants) {
      const std::vector<double> effects = effects_on_loss(result, variant, i);
      if (effects.empty()) continue;
      table.rows.push_back(intervention_row(result, variant, i));
      if (counts_beyond) table.rows.back().emplace_back(beyond_numbers(effects));
    }
  }
  return table;
}

// Every number that the means are of.
Table effects_table(const ExperimentResult& result) {
  Table table{
      .name = result.experiment.name + "-effects",
      .caption = "What each intervention did to each model",
      .columns = {{.name = "variant", .kind = ColumnKind::Text},
                  {.name = "seed"},
                  {.name = "intervention", .kind = ColumnKind::Text},
                  {.name = "change of loss", .key = "loss", .unit = "nats per token", .format = kSignedNats},
                  {.name = "sink", .format = kShare}},
      .view = TableView::FileOnly};
  for (const BrokenRun& run : result.broken)
    for (size_t i = 0; i < run.effects.size(); ++i)
      table.rows.push_back({run.variant, int64_t{run.seed}, result.experiment.breaking->interventions[i].name,
                            run.effects[i].loss, run.effects[i].sink});
  return table;
}

// The same of the heads that make no difference.
Table removals_table(const ExperimentResult& result) {
  Table table{.name = result.experiment.name + "-removals",
              .caption = "What removing heads did to each model",
              .columns = {{.name = "variant", .kind = ColumnKind::Text},
                          {.name = "seed"},
                          {.name = "heads"},
                          {.name = "removed"},
                          kRemovedLoss},
              .view = TableView::FileOnly};
  const bool trains_on = result.experiment.breaking->train_on > 0;
  if (trains_on) table.columns.push_back(kTrainedOnLoss);
  for (const BrokenRun& run : result.broken) {
    table.rows.push_back({run.variant, int64_t{run.seed}, run.heads,
                          run.removed ? TableCell(*run.removed) : TableCell(Missing{}), run.removed_loss});
    if (trains_on) table.rows.back().emplace_back(run.trained_on_loss);
  }
  return table;
}

// "10 models of each variant", or how many of which.
std::string models_text(const ExperimentResult& result) {
  std::set<size_t> counts;
  std::vector<std::string> models;
  for (const PlannedVariant& variant : result.variants) {
    const size_t count = broken_runs(result, variant).size();
    counts.insert(count);
    models.push_back(fmt::format("{} of {}", count, variant.point.name()));
  }
  if (counts.size() == 1) return fmt::format("{} models of each variant", *counts.begin());
  return fmt::format("models ({})", fmt::join(models, ", "));
}

std::string interventions_caption(const ExperimentResult& result, bool is_log) {
  std::string caption = fmt::format(
      "Coloured: means over {}, {}{}; black: each model{}. No coloured dot: the models do not have what is "
      "changed",
      models_text(result), intervals_text(result),
      is_log ? ", which end at the axis where they reach below 0" : "", is_log ? " whose loss rises" : "");
  return caption + (any_beyond_numbers(result)
                        ? ", or one of them is beyond all numbers, so that there is no mean."
                        : ".");
}

ReportFigure interventions_figure(const ExperimentResult& result) {
  BarChart chart{.title = "change of loss", .y = {.label = "nats per token"}, .marks = BarMarks::Dots};
  Extent means;
  for (const NamedChanges& each : result.experiment.breaking->interventions)
    chart.x.names.push_back(each.name);
  for (const PlannedVariant& variant : result.variants) {
    BarGroup bars{.name = variant.point.name()};
    for (size_t i = 0; i < chart.x.names.size(); ++i) {
      const auto loss = shown_effect(result, variant, i);
      const Interval interval = drawn_interval(loss);
      bars.values.push_back(loss ? loss->mean : std::nan(""));
      bars.low.push_back(interval.low);
      bars.high.push_back(interval.high);
      bars.points.push_back(effects_on_loss(result, variant, i));
      if (loss) means.add(loss->mean);
    }
    chart.groups.push_back(std::move(bars));
  }
  const bool is_log = spans_magnitudes(means);
  if (is_log) chart.y.scale = AxisScale::Log;
  const std::string name = result.experiment.name + "-interventions";
  return {.stem = name,
          .figure = figure_of(panel_of(std::move(chart)), {interventions_caption(result, is_log)}),
          .table = name};
}

std::string heads_caption(const ExperimentResult& result) {
  const BreakingPlan& plan = *result.experiment.breaking;
  return fmt::format(
      "Heads whose closing costs less than {} nats (upper end of a 95 % interval over sequences), removed "
      "together{}. Heads are chosen on the same {} sequences that they are judged on, so the loss of "
      "removing them is biased low. Means over seeds {}",
      result.experiment.equal_loss,
      plan.train_on == 0
          ? ""
          : fmt::format("; then {} steps at a rate of {} with and without them", plan.train_on, plan.rate),
      result.broken.front().sequences, intervals_text(result));
}

Table heads_table(const ExperimentResult& result) {
  const bool trains_on = result.experiment.breaking->train_on > 0;
  Table table{.name = result.experiment.name + "-heads",
              .caption = heads_caption(result),
              .columns = {{.name = "variant", .kind = ColumnKind::Text},
                          {.name = "models"},
                          {.name = "heads of a model", .key = "heads"},
                          {.name = "removed", .format = {.style = NumberStyle::Fixed, .digits = 1}},
                          kRemovedLoss}};
  if (trains_on) table.columns.push_back(kTrainedOnLoss);
  table.columns.push_back({.name = "gate with sink", .key = "gate_with_sink", .format = kShare});
  for (const PlannedVariant& variant : result.variants) {
    const std::vector<const BrokenRun*> runs = broken_runs(result, variant);
    if (runs.empty()) continue;
    const auto removed = over_broken(result, variant, [](const BrokenRun& run) {
      return run.removed ? static_cast<double>(*run.removed) : std::nan("");
    });
    const auto of = [&](double BrokenRun::*value) {
      return cell_over_seeds(over_broken(result, variant, [&](const BrokenRun& run) { return run.*value; }));
    };
    std::vector<TableCell>& row = table.rows.emplace_back();
    row = {variant.point.name(), std::ssize(runs), runs.front()->heads, cell_over_seeds(removed),
           of(&BrokenRun::removed_loss)};
    if (trains_on) row.push_back(of(&BrokenRun::trained_on_loss));
    row.push_back(of(&BrokenRun::gate_with_sink));
  }
  return table;
}

}  // namespace

std::vector<ReportBlock> experiment_breaking_blocks(const ExperimentResult& result) {
  return {
      interventions_table(result),
      interventions_figure(result),
      effects_table(result),
      heads_table(result),
      removals_table(result),
      Note{"Gate with sink: correlation of a head's gate with its attention on the first token over tokens, "
           "mean over heads and layers; below 0 gates close where attention goes to the sink."}};
}

}  // namespace sluice
