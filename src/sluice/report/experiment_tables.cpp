#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sluice/report/experiment_parts.h"

namespace sluice {
namespace {

TableColumn figure_column(const ExperimentFigure& figure) {
  return {.name = figure.title,
          .key = figure.key,
          .format = {.style = NumberStyle::Fixed, .digits = figure.digits}};
}

std::vector<const MeasuredTraining*> variant_runs(const ExperimentResult& result,
                                                  const PlannedVariant& variant) {
  std::vector<const MeasuredTraining*> runs;
  for (const MeasuredTraining& run : result.runs)
    if (run.variant == variant.point.name()) runs.push_back(&run);
  return runs;
}

int64_t runs_that_count(const ExperimentResult& result, const PlannedVariant& variant) {
  return std::ranges::count_if(variant_runs(result, variant), [&](const MeasuredTraining* run) {
    return run_counts(result.experiment, *run);
  });
}

}  // namespace

TableCell cell_over_seeds(const std::optional<MeanInterval>& mean) {
  if (!mean) return Missing{};
  if (!mean->half_width) return mean->mean;
  return Estimate{mean->mean, around(*mean)};
}

Interval around(const MeanInterval& mean) {
  const double half = mean.half_width.value_or(std::nan(""));
  return {mean.mean - half, mean.mean + half};
}

std::vector<ExperimentFigure> measured_figures(const ExperimentResult& result) {
  std::vector<ExperimentFigure> figures;
  for (const ExperimentFigure& figure : experiment_figures())
    if (std::ranges::any_of(result.runs,
                            [&](const MeasuredTraining& run) { return std::isfinite(run.*figure.value); }))
      figures.push_back(figure);
  return figures;
}

Table experiment_runs_table(const ExperimentResult& result) {
  Table table{.name = result.experiment.name,
              .caption = "Every run that has ended",
              .columns = {{.name = "variant", .kind = ColumnKind::Text}, {.name = "seed"}},
              .view = TableView::FileOnly};
  for (const ExperimentFigure& figure : experiment_figures()) table.columns.push_back(figure_column(figure));
  for (const char* name : {"spikes", "diverged", "counts", "seconds"})
    table.columns.push_back({.name = name});
  for (const MeasuredTraining& run : result.runs) {
    std::vector<TableCell> row = {run.variant, int64_t{run.seed}};
    for (const ExperimentFigure& figure : experiment_figures()) row.emplace_back(run.*figure.value);
    for (const int64_t number :
         {run.spikes, int64_t{run.diverged}, int64_t{run_counts(result.experiment, run)}})
      row.emplace_back(number);
    row.emplace_back(run.seconds);
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table experiment_variants_table(const ExperimentResult& result) {
  Table table{
      .name = result.experiment.name + "-variants",
      .caption = "Means over the seeds that count, with 95 % intervals (Student's t)",
      .columns = {{.name = "variant", .kind = ColumnKind::Text}, {.name = "parameters"}, {.name = "seeds"}}};
  const std::vector<ExperimentFigure> figures = measured_figures(result);
  for (const ExperimentFigure& figure : figures) table.columns.push_back(figure_column(figure));
  for (const PlannedVariant& variant : result.variants) {
    std::vector<TableCell> row = {variant.point.name(), variant.parameters, runs_that_count(result, variant)};
    for (const ExperimentFigure& figure : figures)
      row.push_back(cell_over_seeds(figure_over_seeds(result, variant, figure.value)));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table experiment_differences_table(const ExperimentResult& result) {
  Table table{.name = result.experiment.name + "-differences",
              .caption = fmt::format("Minus {}{}, paired by seed; the interval leaves out the error that the "
                                     "look may spend",
                                     result.variants.front().variant,
                                     result.experiment.conditions.empty() ? "" : " under the same condition"),
              .columns = {{.name = "variant", .kind = ColumnKind::Text}, {.name = "pairs"}}};
  for (const ExperimentFigure& figure : measured_figures(result)) {
    if (!figure.is_compared) continue;
    table.columns.push_back(figure_column(figure));
    table.columns.back().format.sign = NumberSign::Always;
  }
  for (const PlannedVariant& variant : result.variants) {
    if (!is_compared(result, variant)) continue;
    const auto pairs = planned_difference(result, variant, &MeasuredTraining::validation_loss).difference;
    std::vector<TableCell> row = {variant.point.name(), pairs ? pairs->count : 0};
    for (const ExperimentFigure& figure : measured_figures(result))
      if (figure.is_compared)
        row.push_back(cell_over_seeds(planned_difference(result, variant, figure.value).difference));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table experiment_ends_table(const ExperimentResult& result) {
  const NumberFormat loss{.style = NumberStyle::Fixed, .digits = 3};
  Table table{.name = result.experiment.name + "-ends",
              .caption =
                  "How the runs ended: validation losses of the best and the worst seed among those "
                  "that did not diverge, and spikes of all seeds together",
              .columns = {{.name = "variant", .kind = ColumnKind::Text},
                          {.name = "runs"},
                          {.name = "diverged"},
                          {.name = "spikes"},
                          {.name = "best loss", .key = "best_loss", .format = loss},
                          {.name = "worst loss", .key = "worst_loss", .format = loss}}};
  for (const PlannedVariant& variant : result.variants) {
    int64_t diverged = 0, spikes = 0;
    std::vector<double> losses;
    const auto runs = variant_runs(result, variant);
    for (const MeasuredTraining* run : runs) {
      diverged += run->diverged ? 1 : 0;
      spikes += run->spikes;
      if (!run->diverged) losses.push_back(run->validation_loss);
    }
    const bool some = !losses.empty();
    table.rows.push_back({variant.point.name(), std::ssize(runs), diverged, spikes,
                          some ? TableCell(std::ranges::min(losses)) : TableCell(Missing{}),
                          some ? TableCell(std::ranges::max(losses)) : TableCell(Missing{})});
  }
  return table;
}

}  // namespace sluice
