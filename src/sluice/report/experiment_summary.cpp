// What the page of an experiment begins with: the answer in words, and the verdicts of what was compared.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "sluice/experiment/experiment_tuning.h"
#include "sluice/report/experiment_answer.h"
#include "sluice/report/experiment_parts.h"
#include "sluice/report/planned_finding.h"

namespace sluice {
namespace {

constexpr size_t kMostSummaryFindings = 12;  // beyond, there is a line for each figure

// Something of a variant beside the same of what it is compared with.
struct VariantComparison {
  std::string figure;  // "sink"
  std::string subject;
  std::string against;
  DifferenceAtLook planned;
  std::optional<double> margin = {};
  std::optional<Interval> possible = {};
  int digits = 0;

  bool is_looked_at() const { return planned.look.has_value(); }
};

std::vector<VariantComparison> comparisons_of(const ExperimentResult& result,
                                              const ExperimentFigure& figure) {
  const bool is_loss = figure.value == &MeasuredTraining::validation_loss;
  std::vector<VariantComparison> comparisons;
  for (const PlannedVariant& variant : result.variants)
    if (is_compared(result, variant))
      comparisons.push_back({.figure = figure.title,
                             .subject = variant.point.name(),
                             .against = reference_of(result, variant).point.name(),
                             .planned = planned_difference(result, variant, figure.value),
                             .margin = is_loss ? std::optional(result.experiment.equal_loss) : std::nullopt,
                             .possible = possible_differences(figure),
                             .digits = figure.digits});
  return comparisons;
}

std::vector<VariantComparison> slopes_of(const ExperimentResult& result, const ExperimentFigure& figure) {
  std::vector<VariantComparison> slopes;
  for (const ExperimentVariant& variant : std::span(result.experiment.variants).subspan(1))
    slopes.push_back(
        {.figure = fmt::format("change of {} per tenfold {}", figure.title, result.experiment.condition),
         .subject = variant.name,
         .against = result.experiment.variants.front().name,
         .planned = planned_slope(result, variant.name, figure.value),
         .digits = figure.digits});
  return slopes;
}

// A list for each figure that is compared.
std::vector<std::vector<VariantComparison>> comparisons_by_figure(const ExperimentResult& result) {
  std::vector<std::vector<VariantComparison>> lists;
  if (result.experiment.looks.empty()) return lists;
  for (const ExperimentFigure& figure : measured_figures(result))
    if (figure.is_compared) lists.push_back(comparisons_of(result, figure));
  if (!result.experiment.slope) return lists;
  for (const ExperimentFigure& figure : measured_figures(result))
    if (figure.is_compared) lists.push_back(slopes_of(result, figure));
  return lists;
}

Finding comparison_finding(const VariantComparison& comparison, std::span<const ExperimentLook> looks) {
  return planned_finding({.what = comparison.figure,
                          .subject = comparison.subject,
                          .against = comparison.against,
                          .margin = comparison.margin,
                          .whose_margin = kMarginOfPlan,
                          .possible = comparison.possible},
                         comparison.planned, looks);
}

// "gated: -0.51 [-0.60, -0.42]", of a difference that is decided.
std::string decided_text(const VariantComparison& comparison) {
  const NumberFormat format{
      .style = NumberStyle::Fixed, .digits = comparison.digits, .sign = NumberSign::Always};
  return fmt::format("{}: {}", comparison.subject,
                     cell_text(cell_over_seeds(comparison.planned.difference, comparison.possible),
                               {.name = comparison.figure, .format = format}));
}

// "sink, 5 comparisons, 98 % intervals: lower for 1 (gated,1x1: -0.51 [-0.60, -0.42]); undecided for 4."
std::string verdicts_text(const std::vector<VariantComparison>& comparisons,
                          std::span<const ExperimentLook> looks) {
  std::map<Verdict, std::vector<std::string>> subjects;
  std::set<double> errors;
  for (const VariantComparison& comparison : comparisons) {
    errors.insert(comparison.planned.error());
    const Verdict verdict = comparison_finding(comparison, looks).verdict;
    const bool has_direction = verdict == Verdict::Lower || verdict == Verdict::Higher;
    subjects[verdict].push_back(has_direction ? decided_text(comparison) : comparison.subject);
  }
  std::vector<std::string> parts;
  for (const Verdict verdict : {Verdict::Lower, Verdict::Higher, Verdict::Equivalent})
    if (const auto& names = subjects[verdict]; !names.empty())
      parts.push_back(fmt::format("{} for {} ({})", name_of(verdict), names.size(), fmt::join(names, "; ")));
  if (const auto& names = subjects[Verdict::Undecided]; !names.empty())
    parts.push_back(fmt::format("undecided for {}", names.size()));
  return fmt::format("{}, {}, {} intervals: {}.", comparisons.front().figure,
                     counted_text(std::ssize(comparisons), "comparison"), confidences_text(errors),
                     fmt::join(parts, "; "));
}

// One sentence for all that wait: a page of them says no more.
std::string waiting_text(const std::vector<VariantComparison>& waiting,
                         std::span<const ExperimentLook> looks) {
  const auto pairs = [](const VariantComparison& each) { return each.planned.ended_pairs; };
  const auto [least, most_ended] = std::ranges::minmax_element(waiting, {}, pairs);
  const int64_t fewest = pairs(*least), most = pairs(*most_ended);
  const std::string ended = fewest == most ? counted_text(most, "pair has ended", "pairs have ended")
                                           : fmt::format("between {} and {} have ended", fewest, most);
  return fmt::format("Not answered yet: {} for their first planned look, at {} pairs of seeds; {}.",
                     counted_text(std::ssize(waiting), "comparison waits", "comparisons wait"),
                     looks.front().pairs, ended);
}

// Empty if a run counts, or none has ended.
std::string why_nothing_counts(const ExperimentResult& result) {
  const auto counts = [&](const MeasuredTraining& run) { return run_counts(result.experiment, run); };
  if (result.runs.empty() || std::ranges::any_of(result.runs, counts)) return "";
  return fmt::format("None of {} runs that have ended counts: {} diverged.", result.runs.size(),
                     std::ranges::count(result.runs, true, &MeasuredTraining::diverged));
}

// What the page begins with: the verdicts, or a line for each figure if they are more than anybody would
// read first.
std::vector<ReportBlock> answers(const ExperimentResult& result) {
  const std::vector<ExperimentLook>& looks = result.experiment.looks;
  std::vector<VariantComparison> waiting;
  std::vector<ReportBlock> findings;
  std::vector<std::string> lines;
  for (std::vector<VariantComparison>& comparisons : comparisons_by_figure(result)) {
    const auto not_yet = std::stable_partition(comparisons.begin(), comparisons.end(),
                                               std::mem_fn(&VariantComparison::is_looked_at));
    waiting.insert(waiting.end(), not_yet, comparisons.end());
    comparisons.erase(not_yet, comparisons.end());
    if (!comparisons.empty()) lines.push_back(verdicts_text(comparisons, looks));
    for (const VariantComparison& comparison : comparisons)
      findings.emplace_back(comparison_finding(comparison, looks));
  }
  if (findings.size() > kMostSummaryFindings) findings = {BulletList{std::move(lines)}};
  if (const std::string nothing = why_nothing_counts(result); !nothing.empty())
    findings.emplace_back(Finding{.verdict = Verdict::Undecided, .text = nothing});
  if (!waiting.empty())
    findings.emplace_back(Finding{.verdict = Verdict::Undecided, .text = waiting_text(waiting, looks)});
  return findings;
}

// Why what was written does not fit what is known now; empty: it does.
std::string due_anew(const ExperimentResult& result) {
  const WrittenAnswer& answer = result.experiment.answer;
  if (result.experiment.looks.empty())
    return std::ssize(result.runs) == result.planned
               ? ""
               : fmt::format("The answer in words waits until all runs have ended: {} of {} have.",
                             result.runs.size(), result.planned);
  const int64_t pairs = pairs_looked_at(result);
  if (pairs < answer.pairs)
    return fmt::format(
        "The answer in words was written at {} pairs of seeds. Not all comparisons have come to "
        "that look here.",
        answer.pairs);
  return pairs == answer.pairs
             ? ""
             : fmt::format(
                   "The answer in words was written at {} pairs of seeds and is due anew: all have "
                   "been looked at with {}.",
                   answer.pairs, pairs);
}

// What was written after the look that was reached last; else that there is none for it.
std::vector<ReportBlock> written_answer(const ExperimentResult& result) {
  const WrittenAnswer& answer = result.experiment.answer;
  if (answer.paragraphs.empty()) return {};
  if (const std::string reason = due_anew(result); !reason.empty()) return {Note{reason}};
  const bool has_looks = !result.experiment.looks.empty();
  const ExperimentResult then = has_looks ? as_of_look(result, answer.pairs) : result;
  std::vector<ReportBlock> blocks;
  for (const std::string& paragraph : answer.paragraphs)
    blocks.push_back(Paragraph{filled_in(paragraph, then)});
  blocks.push_back(Note{fmt::format(
      "Text written after {}; its numbers are of the runs that had ended by then, means with 95 % "
      "intervals{}{}.",
      has_looks ? fmt::format("the look at {} pairs of seeds", answer.pairs) : "all runs had ended",
      has_looks
          ? fmt::format(", differences with {} ones", confidence_text(then.experiment.looks.back().error))
          : "",
      has_looks && looked_at_effects(then) > 0
          ? fmt::format(", effects of breaking with {} ones", confidence_text(kUsualError))
          : "")});
  return blocks;
}

// What was best, of an experiment that compares no variants: it is there to choose a condition for each.
std::vector<std::string> choices(const ExperimentResult& result) {
  std::vector<std::string> lines;
  for (const ExperimentVariant& variant : result.experiment.variants) {
    std::vector<TriedCondition> tried = tried_conditions(result, variant.name);
    const auto all = std::ssize(tried);
    std::erase_if(tried, [](const TriedCondition& each) { return !each.loss; });
    if (tried.size() < 2) continue;
    std::ranges::sort(tried, {}, [](const TriedCondition& each) { return *each.loss; });
    lines.push_back(
        fmt::format("{}: of {} conditions {}the lowest validation loss is {:.4f}, under {}; the next is "
                    "{:.4f}, under {} (n = {}).",
                    variant.name, tried.size(),
                    std::ssize(tried) == all ? "" : fmt::format("under which all runs count, of {}, ", all),
                    *tried[0].loss, tried[0].condition.name, *tried[1].loss, tried[1].condition.name,
                    result.experiment.seeds));
  }
  return lines;
}

}  // namespace

std::vector<ReportBlock> experiment_summary(const ExperimentResult& result) {
  std::vector<ReportBlock> summary = written_answer(result);
  if (const auto chosen = choices(result); result.experiment.looks.empty() && !chosen.empty())
    summary.emplace_back(BulletList{chosen});
  append(summary, answers(result));
  append(summary, experiment_breaking_findings(result));
  return summary;
}

std::string experiment_chance_text(const ExperimentResult& result) {
  int64_t made = 0;
  double spent = 0;
  for (const std::vector<VariantComparison>& comparisons : comparisons_by_figure(result)) {
    for (const VariantComparison& comparison : comparisons) {
      if (!comparison.is_looked_at()) continue;
      ++made;
      spent += comparison.planned.error();
    }
  }
  const int64_t broken = looked_at_effects(result);
  made += broken;
  spent += static_cast<double>(broken) * kUsualError;
  if (made == 0) return "";
  return fmt::format(
      " Verdicts are not corrected for their number: if there were no difference at all, at most {:.2g} of "
      "{} "
      "would be called one on average.",
      spent, counted_text(made, "comparison"));
}

}  // namespace sluice
