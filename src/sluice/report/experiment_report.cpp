#include "sluice/report/experiment_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "sluice/base/atomic_file.h"
#include "sluice/base/file_system.h"
#include "sluice/report/experiment_parts.h"
#include "sluice/report/markdown.h"
#include "sluice/report/report_names.h"

namespace sluice {
namespace {

constexpr size_t kMostSummaryFindings = 12;  // beyond, they are counted, and stand below the tables

// A verdict only at a look that was planned: what is seen before it is a number, not an answer.
Finding experiment_finding(const ExperimentResult& result, const PlannedVariant& variant,
                           const ExperimentFigure& figure) {
  const PlannedDifference planned = planned_difference(result, variant, figure.value);
  if (!planned.look || !planned.difference)
    return {.verdict = Verdict::Undecided,
            .text = fmt::format(
                "{} of {}: not looked at yet. The first planned look is at {} pairs of seeds; "
                "{} have ended.",
                figure.title, variant.point.name(), result.experiment.looks.front().pairs, planned.pairs)};
  Difference difference{.what = figure.title,
                        .subject = variant.point.name(),
                        .against = reference_of(result, variant).point.name(),
                        .value = planned.difference->mean,
                        .n = planned.difference->count,
                        .counted = "pairs of seeds"};
  if (planned.difference->half_width) difference.interval = around(*planned.difference);
  if (figure.value == &MeasuredTraining::validation_loss) difference.margin = result.experiment.equal_loss;
  return finding_of(difference);
}

std::vector<ReportBlock> experiment_findings(const ExperimentResult& result) {
  std::vector<ReportBlock> findings;
  for (const PlannedVariant& variant : result.variants) {
    if (!is_compared(result, variant)) continue;
    for (const ExperimentFigure& figure : measured_figures(result))
      if (figure.is_compared) findings.emplace_back(experiment_finding(result, variant, figure));
  }
  return findings;
}

// "sink, 5 comparisons: lower for 1 (gated,1x1); undecided for 4." Of more verdicts than anybody would read
// first.
std::vector<std::string> counted_findings(const ExperimentResult& result) {
  std::vector<std::string> counts;
  for (const ExperimentFigure& figure : measured_figures(result)) {
    if (!figure.is_compared) continue;
    std::map<Verdict, std::vector<std::string>> variants;
    size_t compared = 0;
    for (const PlannedVariant& variant : result.variants) {
      if (!is_compared(result, variant)) continue;
      ++compared;
      variants[experiment_finding(result, variant, figure).verdict].push_back(variant.point.name());
    }
    if (compared == 0) continue;
    std::string text = fmt::format("{}, {} comparisons:", figure.title, compared);
    for (const Verdict verdict : {Verdict::Lower, Verdict::Higher, Verdict::Equivalent})
      if (const auto& names = variants[verdict]; !names.empty())
        text += fmt::format(" {} for {} ({});", name_of(verdict), names.size(), fmt::join(names, "; "));
    counts.push_back(fmt::format("{} undecided for {}.", text, variants[Verdict::Undecided].size()));
  }
  return counts;
}

std::vector<ReportBlock> paragraphs(const std::vector<std::string>& texts) {
  std::vector<ReportBlock> blocks;
  for (const std::string& text : texts) blocks.push_back(Paragraph{text});
  return blocks;
}

std::string comparison_rule(const ExperimentResult& result) {
  const Experiment& experiment = result.experiment;
  std::string rule = fmt::format("{} variants with {} seeds each (from {})", result.variants.size(),
                                 experiment.seeds, experiment.first_seed);
  if (experiment.looks.empty()) return rule + "; none is compared with another.";
  std::string looks;
  for (const ExperimentLook& look : experiment.looks)
    looks += fmt::format("{}{} pairs (error {})", looks.empty() ? "" : ", ", look.pairs, look.error);
  return fmt::format(
      "{}; {} is what the others are compared with, seed by seed{}. Looked at with: {}. Together the looks "
      "err once in twenty times.",
      rule, result.variants.front().variant,
      experiment.conditions.empty() ? "" : ", each under its own condition", looks);
}

std::string parameters_rule(const ExperimentResult& result) {
  double most = 0;
  for (const PlannedVariant& variant : result.variants) {
    const auto base = static_cast<double>(reference_of(result, variant).parameters);
    most = std::max(most, std::abs(static_cast<double>(variant.parameters) / base - 1));
  }
  return fmt::format("Parameters of compared variants differ by at most {:.2f} %.", 100 * most);
}

Section method_section(const ExperimentResult& result) {
  const Experiment& experiment = result.experiment;
  Section section{.title = "Method, fixed beforehand", .blocks = paragraphs(experiment.method)};
  std::vector<std::string> rules = {
      comparison_rule(result), parameters_rule(result),
      fmt::format("Losses within {} nats per token are equal.", experiment.equal_loss),
      "Sink: mean attention on the first token over heads, queries and layers. Largest activation: of a "
      "sequence, mean over layers and sequences. Both of the last weights on 200 held-out sequences."};
  if (!result.tuned.empty())
    rules.push_back(
        fmt::format("All runs have what {} chose: {}.", experiment.tuned_by.stem().string(), result.tuned));
  if (experiment.solved)
    rules.push_back(
        fmt::format("A run that copies less than {} of the letters after triggers does not count, "
                    "nor does its pair.",
                    *experiment.solved));
  section.blocks.push_back(BulletList{std::move(rules)});
  return section;
}

std::string machines_text(const ExperimentResult& result) {
  std::vector<std::string> machines;
  for (const auto& [machine, runs] : result.machines)
    machines.push_back(fmt::format("{} ({} {})", machine, runs, runs == 1 ? "run" : "runs"));
  return fmt::format("Measured on: {}.", fmt::join(machines, "; "));
}

Section result_section(const ExperimentResult& result) {
  const Experiment& experiment = result.experiment;
  const auto uncounted = std::ranges::count_if(
      result.runs, [&](const MeasuredTraining& run) { return !run_counts(experiment, run); });
  Section section{.title = "Result"};
  section.blocks = {
      Paragraph{fmt::format("{} of {} planned runs have ended, {} of them do not count. {:.1f} hours "
                            "of training in all.",
                            result.runs.size(), result.planned, uncounted, result.seconds / 3600)},
      experiment_variants_table(result)};
  if (!result.machines.empty())
    section.blocks.insert(section.blocks.begin() + 1, Paragraph{machines_text(result)});
  if (!measured_figures(result).empty()) section.blocks.emplace_back(experiment_figure(result));
  if (!experiment.conditions.empty()) section.blocks.emplace_back(experiment_ends_table(result));
  if (is_compared(result, result.variants.back())) {
    section.blocks.emplace_back(experiment_differences_table(result));
    if (!measured_figures(result).empty()) section.blocks.emplace_back(experiment_differences_figure(result));
  }
  if (!result.broken.empty())
    for (ReportBlock& block : experiment_breaking_blocks(result)) section.blocks.push_back(std::move(block));
  if (!result.courses.empty()) {
    section.blocks.emplace_back(experiment_course_figure(result));
    section.blocks.emplace_back(experiment_course_table(result));
  }
  section.blocks.emplace_back(experiment_runs_table(result));
  return section;
}

}  // namespace

Report experiment_report(const ExperimentResult& result, ReportHeader header) {
  const Experiment& experiment = result.experiment;
  Report report{.title = experiment.question, .header = std::move(header)};
  Section results = result_section(result);
  const std::vector<ReportBlock> findings = experiment_findings(result);
  const bool are_few = findings.size() <= kMostSummaryFindings;
  if (!are_few) report.summary.emplace_back(BulletList{counted_findings(result)});
  auto& place = are_few ? report.summary : results.blocks;
  place.insert(place.end(), findings.begin(), findings.end());
  for (ReportBlock& finding : experiment_breaking_findings(result))
    report.summary.push_back(std::move(finding));
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
