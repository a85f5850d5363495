#include "sluice/report/sweep_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "sluice/experiment/sweep_table.h"
#include "sluice/plot/training_curves.h"
#include "sluice/report/report_header.h"
#include "sluice/report/table_parts.h"
#include "sluice/report/write_report.h"

namespace sluice {
namespace {

constexpr size_t kMostCurves = 50;  // beyond, no eye can follow

TableColumn column_of(const SweepColumn& column) {
  return {.name = column.title,
          .key = column.key,
          .format = {.style = NumberStyle::Fixed, .digits = column.digits}};
}

Table variants_table(const SweepResult& result) {
  Table table{
      .name = "variants",
      .caption = "Means over seeds with their 95 % intervals (Student's t), of each run's last validation",
      .columns = {{.name = "variant", .kind = ColumnKind::Text}, {.name = "runs"}, {.name = "parameters"}}};
  for (const SweepColumn& column : sweep_columns()) table.columns.push_back(column_of(column));
  table.columns.push_back({.name = "spikes", .note = "steps whose loss jumped, of all runs"});
  table.columns.push_back({.name = "diverged", .note = "runs that did not come to their end"});
  for (const SweepVariant& variant : result.variants) {
    std::vector<TableCell> row = {variant.point.name(), std::ssize(variant.runs), variant.parameters};
    for (const SweepColumn& column : sweep_columns())
      row.push_back(cell_over_seeds(over_seeds(variant.runs, column)));
    row.emplace_back(spikes_of(variant.runs));
    row.emplace_back(diverged_of(variant.runs));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table differences_table(const SweepResult& result) {
  const SweepVariant& first = result.variants.front();
  Table table{.name = "differences",
              .caption = fmt::format("Minus {}, paired by seed", first.point.name()),
              .columns = {{.name = "variant", .kind = ColumnKind::Text}, {.name = "pairs"}}};
  for (const SweepColumn& column : sweep_columns()) {
    if (!column.is_compared) continue;
    table.columns.push_back(column_of(column));
    table.columns.back().format.sign = NumberSign::Always;
  }
  for (const SweepVariant& variant : std::span(result.variants).subspan(1)) {
    const auto losses = paired_difference(variant, first, sweep_columns().front());
    std::vector<TableCell> row = {variant.point.name(), losses ? losses->count : 0};
    for (const SweepColumn& column : sweep_columns())
      if (column.is_compared) row.push_back(cell_over_seeds(paired_difference(variant, first, column)));
    table.rows.push_back(std::move(row));
  }
  return table;
}

// None if no seed of both came to its end.
std::optional<Finding> loss_finding(const SweepVariant& variant, const SweepVariant& first) {
  const auto mean = paired_difference(variant, first, sweep_columns().front());
  if (!mean) return {};
  Difference difference{.what = "validation loss",
                        .subject = variant.point.name(),
                        .against = first.point.name(),
                        .value = mean->mean,
                        .n = mean->count,
                        .counted = "seeds",
                        .limits = "This is about runs of this length on this text."};
  if (mean->half_width) difference.interval = around(*mean);
  return finding_of(difference);
}

Section differences_section(const SweepResult& result) {
  const SweepVariant& first = result.variants.front();
  Section section{.title = fmt::format("Differences from {}", first.point.name()), .anchor = "differences"};
  for (const SweepVariant& variant : std::span(result.variants).subspan(1))
    if (auto finding = loss_finding(variant, first)) section.blocks.push_back(std::move(*finding));
  section.blocks.push_back(differences_table(result));
  if (result.variants.size() > 2)
    section.blocks.push_back(
        Note{"Each verdict stands for itself: if a true difference is zero, it is called one at most once in "
             "twenty times."});
  return section;
}

// The seeds of a variant are one line.
std::vector<LabelledRuns> grouped(std::span<const SeededRun> runs) {
  std::vector<LabelledRuns> groups;
  for (const SeededRun& run : runs) {
    if (groups.empty() || groups.back().label != run.label)
      groups.push_back({.label = run.label, .runs = {}});
    groups.back().runs.push_back(run.metrics);
  }
  return groups;
}

Section curves_section(std::span<const SeededRun> runs) {
  std::vector<LabelledRuns> groups = grouped(runs);
  std::string caption = "The losses of single steps are in the metrics.jsonl of each run.";
  if (groups.size() > kMostCurves) {
    caption = fmt::format("The first {} of {} variants. {}", kMostCurves, groups.size(), caption);
    groups.resize(kMostCurves);
  }
  return {.title = "How training went",
          .blocks = {ReportFigure{.stem = "curves",
                                  .figure = training_figure(training_curves(groups, Progression::Tokens)),
                                  .caption = caption,
                                  .table = "validations"},
                     validations_table(runs)}};
}

std::vector<ReportBlock> sweep_summary(const SweepResult& result) {
  int64_t runs = 0, diverged = 0;
  for (const SweepVariant& variant : result.variants) {
    runs += std::ssize(variant.runs);
    diverged += diverged_of(variant.runs);
  }
  std::vector<ReportBlock> blocks = {Paragraph{fmt::format(
      "{} {}, {} {} in all, of which {} diverged. Single runs are in table.csv, everything in result.json.",
      result.variants.size(), result.variants.size() == 1 ? "variant" : "variants", runs,
      runs == 1 ? "run" : "runs", diverged)}};
  if (result.end == RunEnd::Interrupted)
    blocks.push_back(
        Note{"The sweep was stopped before its end: what is shown are the runs that had ended."});
  return blocks;
}

double seconds_of_runs(const SweepResult& result) {
  double seconds = 0;
  for (const SweepVariant& variant : result.variants)
    for (const SweepRun& run : variant.runs)
      if (run.outcome) seconds += run.outcome->state.seconds;
  return seconds;
}

}  // namespace

std::vector<SeededRun> read_sweep_runs(const SweepResult& result) {
  std::vector<SeededRun> runs;
  for (const SweepVariant& variant : result.variants)
    for (const SweepRun& run : variant.runs)
      runs.push_back(
          {.label = variant.point.name(), .seed = run.seed, .metrics = read_metrics(run.directory)});
  return runs;
}

Report sweep_report(const SweepResult& result, std::span<const SeededRun> runs, ReportHeader header) {
  header.seconds = seconds_of_runs(result);
  Report report{.title = "A sweep over seeds", .summary = sweep_summary(result), .header = std::move(header)};
  report.sections.push_back({.title = "Variants", .blocks = {variants_table(result)}});
  if (result.variants.size() > 1) report.sections.push_back(differences_section(result));
  if (!runs.empty()) report.sections.push_back(curves_section(runs));
  return report;
}

void write_sweep_report(const SweepResult& result, const SweepRequest& request, ReportHeader header) {
  for (const TokenShard& shard : request.shards)
    header.sources.push_back({"data", shard.name(), checksum_text(shard.info().checksum)});
  for (const TokenShard& shard : request.validation)
    header.sources.push_back({"validation", shard.name(), checksum_text(shard.info().checksum)});
  write_report(sweep_report(result, read_sweep_runs(result), std::move(header)), request.out);
}

}  // namespace sluice
