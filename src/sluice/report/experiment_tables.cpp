#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "sluice/report/experiment_parts.h"
#include "sluice/report/verdict.h"

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

// Of the runs that count.
struct CountedSeeds {
  int64_t all = 0, with_sink = 0;
};

CountedSeeds counted_seeds(const ExperimentResult& result, const PlannedVariant& variant) {
  CountedSeeds seeds;
  for (const MeasuredTraining* run : counted_runs(result, variant)) {
    ++seeds.all;
    seeds.with_sink += has_sink(result, *run) ? 1 : 0;
  }
  return seeds;
}

// "AMD EPYC" and "avx2" of "AMD EPYC, avx2".
std::array<std::string, 2> machine_parts(const std::string& machine) {
  const size_t comma = machine.rfind(", ");
  if (comma == std::string::npos) return {machine, ""};
  return {machine.substr(0, comma), machine.substr(comma + 2)};
}

// Of the mean loss: the geometric mean over seeds.
TableCell perplexity_cell(const std::optional<MeanInterval>& loss) {
  if (!loss) return Missing{};
  if (!loss->half_width) return std::exp(loss->mean);
  const Interval losses = around(*loss);
  return Estimate{std::exp(loss->mean), Interval{std::exp(losses.low), std::exp(losses.high)}};
}

TableCell share_cell(int64_t part, int64_t all) {
  if (all == 0) return Missing{};
  return Estimate{static_cast<double>(part) / static_cast<double>(all), share_interval(part, all)};
}

// A row for whatever is compared, a column for each figure of it.
class ComparedRows {
 public:
  explicit ComparedRows(const ExperimentResult& result)
      : result_(result), intervals_(result.experiment.looks) {
    for (const ExperimentFigure& figure : measured_figures(result))
      if (figure.is_compared) figures_.push_back(figure);
  }

  template <class Planned>  // DifferenceAtLook of a figure's value
  void add(const std::string& subject, Planned planned) {
    const DifferenceAtLook losses = planned(&MeasuredTraining::validation_loss);
    intervals_.add(losses);
    std::vector<TableCell>& row = rows_.emplace_back();
    row = {subject, losses.difference ? losses.difference->count : 0};
    for (const ExperimentFigure& figure : figures_) {
      const DifferenceAtLook difference = planned(figure.value);
      intervals_.add(difference);
      row.push_back(cell_over_seeds(difference.shown(), possible_differences(figure)));
    }
  }

  Table table(const std::string& ending, const std::string& caption) && {
    Table table{.name = result_.experiment.name + ending,
                .caption = fmt::format("{}, {}", caption, intervals_.text()),
                .columns = {{.name = "variant", .kind = ColumnKind::Text}, {.name = "pairs"}},
                .rows = std::move(rows_)};
    for (const ExperimentFigure& figure : figures_) {
      table.columns.push_back(figure_column(figure));
      table.columns.back().format.sign = NumberSign::Always;
    }
    return table;
  }

 private:
  const ExperimentResult& result_;
  std::vector<ExperimentFigure> figures_;
  std::vector<std::vector<TableCell>> rows_;
  ShownIntervals intervals_;
};

}  // namespace

std::vector<ExperimentFigure> measured_figures(const ExperimentResult& result) {
  std::vector<ExperimentFigure> figures;
  for (const ExperimentFigure& figure : experiment_figures())
    if (std::ranges::any_of(result.runs, [&](const MeasuredTraining& run) {
          return !run.diverged && std::isfinite(run.*figure.value);
        }))
      figures.push_back(figure);
  return figures;
}

Table experiment_runs_table(const ExperimentResult& result) {
  Table table{.name = result.experiment.name,
              .caption = "Every run that has ended",
              .columns = {{.name = "variant", .kind = ColumnKind::Text}, {.name = "seed"}},
              .view = TableView::FileOnly};
  for (const ExperimentFigure& figure : experiment_figures()) table.columns.push_back(figure_column(figure));
  for (const char* name : {"diverged", "counts", "seconds"}) table.columns.push_back({.name = name});
  for (const char* name : {"cpu", "isa"}) table.columns.push_back({.name = name, .kind = ColumnKind::Text});
  for (const MeasuredTraining& run : result.runs) {
    std::vector<TableCell> row = {run.variant, int64_t{run.seed}};
    for (const ExperimentFigure& figure : experiment_figures()) row.emplace_back(run.*figure.value);
    for (const bool is_so : {run.diverged, run_counts(result.experiment, run)})
      row.emplace_back(int64_t{is_so});
    row.emplace_back(run.seconds);
    for (std::string& part : machine_parts(run.machine)) row.emplace_back(std::move(part));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table experiment_variants_table(const ExperimentResult& result) {
  Table table{.name = result.experiment.name + "-variants",
              .caption =
                  "Means over the seeds that count, with 95 % intervals (Student's t, cut where a share or a "
                  "size ends); perplexities of mean losses; spikes of the loss of a run",
              .columns = {{.name = "variant", .kind = ColumnKind::Text},
                          {.name = "parameters"},
                          {.name = "seeds"},
                          {.name = "with a sink", .key = "seeds_with_sink"},
                          {.name = "perplexity",
                           .note = "of the mean loss, so a geometric mean",
                           .format = {.style = NumberStyle::Fixed, .digits = 2}}}};
  const std::vector<ExperimentFigure> figures = measured_figures(result);
  for (const ExperimentFigure& figure : figures) table.columns.push_back(figure_column(figure));
  for (const PlannedVariant& variant : result.variants) {
    const CountedSeeds seeds = counted_seeds(result, variant);
    const auto loss = figure_over_seeds(result, variant, &MeasuredTraining::validation_loss);
    std::vector<TableCell> row = {variant.point.name(), variant.parameters, seeds.all, seeds.with_sink,
                                  perplexity_cell(loss)};
    for (const ExperimentFigure& figure : figures)
      row.push_back(
          cell_over_seeds(figure_over_seeds(result, variant, figure.value), possible_values(figure)));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table experiment_differences_table(const ExperimentResult& result) {
  ComparedRows rows(result);
  for (const PlannedVariant& variant : result.variants)
    if (is_compared(result, variant))
      rows.add(variant.point.name(),
               [&](double MeasuredTraining::*value) { return planned_difference(result, variant, value); });
  return std::move(rows).table(
      "-differences", fmt::format("Minus {}{}, paired by seed", result.variants.front().variant,
                                  result.experiment.conditions.empty() ? "" : " under the same condition"));
}

Table experiment_slopes_table(const ExperimentResult& result) {
  ComparedRows rows(result);
  for (const ExperimentVariant& variant : std::span(result.experiment.variants).subspan(1))
    rows.add(variant.name,
             [&](double MeasuredTraining::*value) { return planned_slope(result, variant.name, value); });
  return std::move(rows).table("-slopes",
                               fmt::format("Change of these differences per tenfold {}: the slope of a line "
                                           "through those of each seed",
                                           result.experiment.condition));
}

Table experiment_ends_table(const ExperimentResult& result) {
  const NumberFormat loss{.style = NumberStyle::Fixed, .digits = 3};
  Table table{.name = result.experiment.name + "-ends",
              .caption =
                  "How the runs ended: validation losses of the best and the worst seed among those "
                  "that did not diverge, spikes of all seeds together, and the share that diverged with "
                  "an exact 95 % interval",
              .columns = {{.name = "variant", .kind = ColumnKind::Text},
                          {.name = "runs"},
                          {.name = "diverged"},
                          {.name = "share diverged",
                           .key = "share_diverged",
                           .format = {.style = NumberStyle::Fixed, .digits = 2}},
                          {.name = "spikes"},
                          {.name = "best loss", .key = "best_loss", .format = loss},
                          {.name = "worst loss", .key = "worst_loss", .format = loss}}};
  for (const PlannedVariant& variant : result.variants) {
    int64_t diverged = 0;
    double spikes = 0;
    std::vector<double> losses;
    const auto runs = variant_runs(result, variant);
    for (const MeasuredTraining* run : runs) {
      diverged += run->diverged ? 1 : 0;
      spikes += run->spikes;
      if (!run->diverged) losses.push_back(run->validation_loss);
    }
    const bool some = !losses.empty();
    table.rows.push_back({variant.point.name(), std::ssize(runs), diverged,
                          share_cell(diverged, std::ssize(runs)), static_cast<int64_t>(spikes),
                          some ? TableCell(std::ranges::min(losses)) : TableCell(Missing{}),
                          some ? TableCell(std::ranges::max(losses)) : TableCell(Missing{})});
  }
  return table;
}

}  // namespace sluice
