#include "sluice/report/experiment_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "sluice/analysis/attention_measure.h"
#include "sluice/base/atomic_file.h"
#include "sluice/base/file_system.h"
#include "sluice/report/experiment_answer.h"
#include "sluice/report/experiment_parts.h"
#include "sluice/report/markdown.h"
#include "sluice/report/report_names.h"

namespace sluice {
namespace {

std::vector<ReportBlock> paragraphs(const std::vector<std::string>& texts) {
  std::vector<ReportBlock> blocks;
  for (const std::string& text : texts) blocks.push_back(Paragraph{text});
  return blocks;
}

std::string comparison_rule(const ExperimentResult& result) {
  const Experiment& experiment = result.experiment;
  std::string rule =
      fmt::format("{} with {} each (from {})", counted_text(std::ssize(result.variants), "variant"),
                  counted_text(experiment.seeds, "seed"), experiment.first_seed);
  if (experiment.looks.empty()) return rule + "; none is compared with another.";
  std::string looks;
  for (const ExperimentLook& look : experiment.looks)
    looks += fmt::format("{}{} pairs (error {})", looks.empty() ? "" : ", ", look.pairs, look.error);
  return fmt::format(
      "{}; {} is what the others are compared with, seed by seed{}. Looked at with: {}. If there is no "
      "difference, the looks of a comparison together call one with a probability of at most 5 %.",
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

// The script knows the repository's own. As many seeds as the page has looked at.
std::string command_anew(const ExperimentResult& result) {
  const Experiment& experiment = result.experiment;
  const int64_t pairs = pairs_looked_at(result);
  const std::string seeds = pairs == 0 || pairs == experiment.seeds ? "" : fmt::format(" --seeds {}", pairs);
  std::error_code unknown;
  const std::filesystem::path folder = experiment.file.parent_path();
  if (std::filesystem::exists(folder / ".." / "scripts" / "reproduce.sh", unknown))
    return fmt::format("scripts/reproduce.sh {}{}", experiment.name, seeds);
  return fmt::format("sluice experiment {}{} --home, with a directory that is empty",
                     experiment.file.string(), seeds);
}

// Of one that is on sequences of the text that training keeps out.
std::string validation_rule(const ExperimentResult& result) {
  const PlannedVariant& first = result.variants.front();
  return fmt::format(
      "Losses within {} nats per token are equal. They are those of the same {} validation sequences of {} "
      "tokens for all runs, so intervals hold over seeds and not over texts.",
      result.experiment.equal_loss, first.validation_sequences, first.sequence);
}

// Whether looks, margins and what counts were what they are when runs ended.
std::string what_fixes_rules(const ExperimentResult& result) {
  const auto runs = std::ssize(result.runs);
  if (result.judged_as_planned == runs)
    return "How runs are judged was fixed before any had ended: the ledger says so of each.";
  return fmt::format(
      "The ledger shows for {} of {} that today's rules of judgement already held when they ended{}; for the "
      "others see git log experiments/{}.json.",
      result.judged_as_planned, counted_text(runs, "run"),
      result.judged_anew > 0 ? fmt::format(", and for {} that they did not", result.judged_anew) : "",
      result.experiment.name);
}

Section method_section(const ExperimentResult& result) {
  const Experiment& experiment = result.experiment;
  Section section{.title = "Method", .blocks = paragraphs(experiment.method)};
  std::vector<std::string> rules = {
      comparison_rule(result), parameters_rule(result), validation_rule(result),
      fmt::format(
          "Sink: mean attention on the first token over heads, queries and layers. Largest activation: "
          "of a sequence, mean over layers and sequences. Both of the last weights on the first {} "
          "held-out sequences.",
          kMeasuredSequences),
      fmt::format("With a sink: seeds whose first token gets at least {} times what uniform attention would "
                  "give it. Sink of a head: of the head that puts most on the first token.",
                  kSinkTimesUniform)};
  if (!result.tuned.empty())
    rules.push_back(
        fmt::format("All runs have what {} chose: {}.", experiment.tuned_by.stem().string(), result.tuned));
  if (experiment.solved)
    rules.push_back(
        fmt::format("A run that copies less than {} of the letters after triggers does not count, "
                    "nor does its pair.",
                    *experiment.solved));
  if (!result.runs.empty()) rules.push_back(what_fixes_rules(result));
  rules.push_back(fmt::format("To train all of it anew: {}.", command_anew(result)));
  section.blocks.push_back(BulletList{std::move(rules)});
  return section;
}

std::string machines_text(const ExperimentResult& result) {
  std::vector<std::string> machines;
  for (const auto& [machine, runs] : result.machines)
    machines.push_back(fmt::format("{} ({})", machine, counted_text(runs, "run")));
  return fmt::format("Measured on: {}.", fmt::join(machines, "; "));
}

// What the file says was changed, and what the ledger knows of it.
std::vector<ReportBlock> later_changes(const ExperimentResult& result) {
  std::vector<ReportBlock> blocks = paragraphs(result.experiment.changed_later);
  if (result.judged_anew > 0)
    blocks.push_back(Paragraph{
        fmt::format("When {} had ended, how they are judged was changed: looks, margins, controls or what "
                    "counts.",
                    counted_text(result.judged_anew, "run"))});
  return blocks;
}

// ", 2 of which diverged"
std::string diverged_text(const ExperimentResult& result) {
  const auto diverged = std::ranges::count(result.runs, true, &MeasuredTraining::diverged);
  return diverged == 0 ? "" : fmt::format(", {} of which diverged", diverged);
}

Section result_section(const ExperimentResult& result) {
  const Experiment& experiment = result.experiment;
  const auto uncounted = std::ranges::count_if(
      result.runs, [&](const MeasuredTraining& run) { return !run_counts(experiment, run); });
  Section section{.title = "Result"};
  section.blocks = {
      Paragraph{fmt::format("{} of {} planned runs have ended, {} of them do not count{}. {:.1f} hours "
                            "of training in all, by the clock of machines that did other things, too.",
                            result.runs.size(), result.planned, uncounted, diverged_text(result),
                            result.seconds / 3600)},
      experiment_variants_table(result)};
  if (!result.machines.empty())
    section.blocks.insert(section.blocks.begin() + 1, Paragraph{machines_text(result)});
  if (!measured_figures(result).empty()) section.blocks.emplace_back(experiment_figure(result));
  if (!experiment.conditions.empty()) section.blocks.emplace_back(experiment_ends_table(result));
  if (is_compared(result, result.variants.back())) {
    section.blocks.emplace_back(experiment_differences_table(result));
    if (!measured_figures(result).empty()) section.blocks.emplace_back(experiment_differences_figure(result));
    if (experiment.slope) section.blocks.emplace_back(experiment_slopes_table(result));
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

void make_page_directory(const std::filesystem::path& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) throw system_failure(directory, "cannot create", error);
}

}  // namespace

Report experiment_report(const ExperimentResult& result, ReportHeader header) {
  const Experiment& experiment = result.experiment;
  Report report{.title = experiment.question, .header = std::move(header)};
  report.summary = experiment_summary(result);
  report.sections.push_back(method_section(result));
  if (auto changes = later_changes(result); !changes.empty())
    report.sections.push_back({.title = "Changed after runs had ended", .blocks = std::move(changes)});
  if (!experiment.known_before.empty())
    report.sections.push_back({.title = "Known before", .blocks = paragraphs(experiment.known_before)});
  report.sections.push_back(result_section(result));
  Section limits{.title = "What this does not show", .blocks = paragraphs(experiment.limits)};
  limits.blocks.push_back(Note{"Undecided is not equal: how large a difference may be is in its interval." +
                               experiment_chance_text(result)});
  report.sections.push_back(std::move(limits));
  return report;
}

void write_experiment_page(const ExperimentResult& result, const std::filesystem::path& directory,
                           ReportHeader header) {
  const Report report = with_unique_names(experiment_report(result, std::move(header)));
  make_page_directory(directory);
  for (const Table* table : tables_of(report))
    write_file_atomically(directory / (table->name + ".csv"), csv_of(*table));
  for (const ReportFigure* figure : figures_of(report))
    write_figure(directory / (figure->stem + ".svg"), figure->figure);
  write_file_atomically(directory / (result.experiment.name + ".md"), markdown_of(report));
}

ExperimentResult answer_experiment(Engine& engine, AnswerRequest request, const JobControl& control,
                                   const SweepObserver& observer) {
  request.experiment.check = [&](const ExperimentResult& planned) {
    check_answer(planned);
    if (!request.page.empty()) make_page_directory(request.page);
  };
  ExperimentResult result = run_experiment(engine, request.experiment, control, observer);
  if (!request.page.empty()) write_experiment_page(result, request.page, request.header);
  return result;
}

}  // namespace sluice
