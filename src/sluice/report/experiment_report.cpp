#include "sluice/report/experiment_report.h"

#include <fmt/format.h>

#include <cmath>

#include "sluice/base/atomic_file.h"
#include "sluice/base/file_system.h"
#include "sluice/plot/bar_chart.h"
#include "sluice/plot/panels.h"
#include "sluice/report/markdown.h"
#include "sluice/report/report_names.h"

namespace sluice {
namespace {

constexpr size_t kMostSummaryFindings = 12;  // beyond, all of them stand below the tables

Interval around(const MeanInterval& mean) {
  const double half = mean.half_width.value_or(std::nan(""));
  return {mean.mean - half, mean.mean + half};
}

TableCell cell_over_seeds(const std::optional<MeanInterval>& mean) {
  if (!mean) return Missing{};
  if (!mean->half_width) return mean->mean;
  return Estimate{mean->mean, around(*mean)};
}

TableColumn figure_column(const ExperimentFigure& figure) {
  return {.name = figure.title,
          .key = figure.key,
          .format = {.style = NumberStyle::Fixed, .digits = figure.digits}};
}

int64_t runs_that_count(const ExperimentResult& result, const std::string& variant) {
  return std::ranges::count_if(result.runs, [&](const MeasuredTraining& run) {
    return run.variant == variant && run_counts(result.experiment, run);
  });
}

// Columns that no run has a number for say nothing.
std::vector<ExperimentFigure> measured_figures(const ExperimentResult& result) {
  std::vector<ExperimentFigure> figures;
  for (const ExperimentFigure& figure : experiment_figures())
    if (std::ranges::any_of(result.runs,
                            [&](const MeasuredTraining& run) { return std::isfinite(run.*figure.value); }))
      figures.push_back(figure);
  return figures;
}

Table runs_table(const ExperimentResult& result) {
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

Table experiment_variants(const ExperimentResult& result) {
  Table table{
      .name = result.experiment.name + "-variants",
      .caption = "Means over the seeds that count, with 95 % intervals (Student's t)",
      .columns = {{.name = "variant", .kind = ColumnKind::Text}, {.name = "parameters"}, {.name = "seeds"}}};
  const std::vector<ExperimentFigure> figures = measured_figures(result);
  for (const ExperimentFigure& figure : figures) table.columns.push_back(figure_column(figure));
  for (size_t i = 0; i < result.variants.size(); ++i) {
    const std::string& variant = result.variants[i];
    std::vector<TableCell> row = {variant, result.parameters[i], runs_that_count(result, variant)};
    for (const ExperimentFigure& figure : figures)
      row.push_back(cell_over_seeds(figure_over_seeds(result, variant, figure.value)));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table experiment_differences(const ExperimentResult& result) {
  Table table{.name = result.experiment.name + "-differences",
              .caption = fmt::format("Minus {}, paired by seed; the interval leaves out the error that the "
                                     "look may spend",
                                     result.variants.front()),
              .columns = {{.name = "variant", .kind = ColumnKind::Text}, {.name = "pairs"}}};
  for (const ExperimentFigure& figure : measured_figures(result)) {
    if (!figure.is_compared) continue;
    table.columns.push_back(figure_column(figure));
    table.columns.back().format.sign = NumberSign::Always;
  }
  for (const std::string& variant : std::span(result.variants).subspan(1)) {
    const auto pairs = planned_difference(result, variant, &MeasuredTraining::validation_loss).difference;
    std::vector<TableCell> row = {variant, pairs ? pairs->count : 0};
    for (const ExperimentFigure& figure : measured_figures(result))
      if (figure.is_compared)
        row.push_back(cell_over_seeds(planned_difference(result, variant, figure.value).difference));
    table.rows.push_back(std::move(row));
  }
  return table;
}

// A verdict only at a look that was planned: what is seen before it is a number, not an answer.
Finding experiment_finding(const ExperimentResult& result, const std::string& variant,
                           const ExperimentFigure& figure) {
  const PlannedDifference planned = planned_difference(result, variant, figure.value);
  if (!planned.look || !planned.difference)
    return {
        .verdict = Verdict::Undecided,
        .text = fmt::format("{} of {}: not looked at yet. The first planned look is at {} pairs of seeds; "
                            "{} have ended.",
                            figure.title, variant, result.experiment.looks.front().pairs, planned.pairs)};
  Difference difference{.what = figure.title,
                        .subject = variant,
                        .against = result.variants.front(),
                        .value = planned.difference->mean,
                        .n = planned.difference->count,
                        .counted = "pairs of seeds"};
  if (planned.difference->half_width) difference.interval = around(*planned.difference);
  if (figure.value == &MeasuredTraining::validation_loss) difference.margin = result.experiment.equal_loss;
  return finding_of(difference);
}

std::vector<ReportBlock> experiment_findings(const ExperimentResult& result) {
  std::vector<ReportBlock> findings;
  for (const std::string& variant : std::span(result.variants).subspan(1))
    for (const ExperimentFigure& figure : measured_figures(result))
      if (figure.is_compared) findings.emplace_back(experiment_finding(result, variant, figure));
  return findings;
}

ReportFigure experiment_figure(const ExperimentResult& result) {
  Panels panels{
      .columns = 3,
      .caption = {fmt::format("Means over seeds with 95 % intervals; {} runs of {:L} steps. Uniform "
                              "attention puts {:.3f} on the first token.",
                              result.runs.size(), result.steps, result.sink_floor)}};
  for (const ExperimentFigure& figure : measured_figures(result)) {
    if (!figure.is_compared) continue;
    BarGroup bars;
    for (const std::string& variant : result.variants) {
      const auto mean = figure_over_seeds(result, variant, figure.value);
      bars.values.push_back(mean ? mean->mean : std::nan(""));
      bars.low.push_back(mean ? around(*mean).low : std::nan(""));
      bars.high.push_back(mean ? around(*mean).high : std::nan(""));
    }
    panels.panels.push_back(panel_of(BarChart{.title = figure.title,
                                              .x = {.names = result.variants},
                                              .y = {.label = figure.title},
                                              .groups = {bars}}));
  }
  return {.stem = result.experiment.name,
          .figure = figure_of(std::move(panels)),
          .table = result.experiment.name + "-variants"};
}

std::vector<ReportBlock> paragraphs(const std::vector<std::string>& texts) {
  std::vector<ReportBlock> blocks;
  for (const std::string& text : texts) blocks.push_back(Paragraph{text});
  return blocks;
}

Section method_section(const ExperimentResult& result) {
  const Experiment& experiment = result.experiment;
  Section section{.title = "Method, fixed beforehand", .blocks = paragraphs(experiment.method)};
  std::string looks;
  for (const ExperimentLook& look : experiment.looks)
    looks += fmt::format("{}{} pairs (error {})", looks.empty() ? "" : ", ", look.pairs, look.error);
  std::vector<std::string> rules = {
      fmt::format(
          "{} variants with {} seeds each; the first is what the others are compared with, seed by seed.",
          result.variants.size(), experiment.seeds),
      fmt::format("Looked at with: {}. Together the looks err once in twenty times.", looks),
      fmt::format("Losses within {} nats per token are equal.", experiment.equal_loss),
      "Sink: mean attention on the first token over heads, queries and layers. Largest activation: of a "
      "sequence, mean over layers and sequences. Both of the last weights on 200 held-out sequences."};
  if (experiment.solved)
    rules.push_back(
        fmt::format("A run that copies less than {} of the letters after triggers does not count, "
                    "nor does its pair.",
                    *experiment.solved));
  section.blocks.push_back(BulletList{std::move(rules)});
  return section;
}

Section result_section(const ExperimentResult& result) {
  const auto uncounted = std::ranges::count_if(
      result.runs, [&](const MeasuredTraining& run) { return !run_counts(result.experiment, run); });
  Section section{.title = "Result"};
  section.blocks = {
      Paragraph{fmt::format("{} of {} planned runs have ended, {} of them do not count. {:.1f} hours "
                            "of training in all.",
                            result.runs.size(), result.planned, uncounted, result.seconds / 3600)},
      experiment_variants(result)};
  if (!measured_figures(result).empty()) section.blocks.emplace_back(experiment_figure(result));
  if (result.variants.size() > 1) section.blocks.push_back(experiment_differences(result));
  section.blocks.push_back(runs_table(result));
  return section;
}

}  // namespace

Report experiment_report(const ExperimentResult& result, ReportHeader header) {
  const Experiment& experiment = result.experiment;
  Report report{.title = experiment.question, .header = std::move(header)};
  std::vector<ReportBlock> findings = experiment_findings(result);
  Section results = result_section(result);
  auto& place = findings.size() <= kMostSummaryFindings ? report.summary : results.blocks;
  place.insert(place.end(), findings.begin(), findings.end());
  report.sections.push_back(method_section(result));
  if (!experiment.known_before.empty())
    report.sections.push_back({.title = "Known before", .blocks = paragraphs(experiment.known_before)});
  report.sections.push_back(std::move(results));
  Section limits{.title = "What this does not show", .blocks = paragraphs(experiment.limits)};
  limits.blocks.push_back(Note{
      "Each verdict stands for itself: of twenty differences that are none, one is expected to look like "
      "one."});
  report.sections.push_back(std::move(limits));
  return report;
}

void write_experiment_page(const ExperimentResult& result, const std::filesystem::path& directory,
                           ReportHeader header) {
  const Report report = with_unique_names(experiment_report(result, std::move(header)));
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) throw system_failure(directory, "cannot create", error);
  for (const Table* table : tables_of(report))
    write_file_atomically(directory / (table->name + ".csv"), csv_of(*table));
  for (const ReportFigure* figure : figures_of(report))
    write_figure(directory / (figure->stem + ".svg"), figure->figure);
  write_file_atomically(directory / (result.experiment.name + ".md"), markdown_of(report));
}

}  // namespace sluice
