#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sluice/report/look_figures.h"
#include "sluice/report/look_tables.h"
#include "sluice/report/study_parts.h"
#include "sluice/report/study_report.h"

namespace sluice {
namespace {

// Among many differences some intervals miss zero by chance; the test is corrected for that, so it has the
// last word.
Finding difference_finding(const Study& study, const PairedDifference& difference) {
  constexpr double kLevel = 0.05;
  const std::string corrected =
      fmt::format("Corrected for all differences of this page p = {:.2g}.", difference.p);
  const Difference words{.what = difference.words,
                         .subject = study.models[difference.model].name,
                         .against = study.models.front().name,
                         .value = difference.difference.value,
                         .interval = difference.difference.ci95,
                         .n = study.models.front().look.sequences,
                         .counted = "sequences",
                         .margin = difference.margin,
                         .limits = corrected + " One text, and one training run of each model."};
  const Finding finding = finding_of(words);
  const bool decided = finding.verdict == Verdict::Higher || finding.verdict == Verdict::Lower;
  if (!decided || difference.p < kLevel) return finding;
  return {.verdict = Verdict::Undecided,
          .text = fmt::format("Whether {} of {} is higher or lower than of {} is undecided: the difference "
                              "is {} (n = {} sequences), "
                              "but among so many differences that may be chance. {}",
                              words.what, words.subject, words.against, interval_words(difference.difference),
                              words.n, words.limits)};
}

// Signs of n sequences can be drawn in 2^n ways, so p is never below 2^(1 - n).
std::optional<Note> too_few_words(const ModelComparison& comparison) {
  const int64_t n = comparison.study.models.front().look.sequences;
  const double least =
      std::exp2(1.0 - static_cast<double>(n)) * static_cast<double>(comparison.differences.size());
  if (least < 0.05) return {};
  return Note{
      fmt::format("With {} sequences the corrected p of the smallest is at least {:.2g}, so nothing can be "
                  "decided here: --chunks "
                  "and a longer text give more.",
                  n, std::min(least, 1.0))};
}

}  // namespace

Report comparison_report(const ModelComparison& comparison, ReportHeader header) {
  const Study& study = comparison.study;
  Report report = begun_report("Models compared", study, std::move(header));
  report.summary.push_back(models_table(study));
  if (any_gates(study)) report.summary.push_back(gates_table(study));
  Section differences{.title = "Differences"};
  for (const PairedDifference& difference : comparison.differences) {
    differences.blocks.push_back(difference_finding(study, difference));
  }
  if (const std::optional<Note> note = too_few_words(comparison)) differences.blocks.push_back(*note);
  differences.blocks.push_back(differences_table(comparison));
  report.sections.push_back(std::move(differences));
  Section layers{.title = "By layer", .blocks = {compared_layers_figure(study), compared_layers(study)}};
  if (gated_outputs(study) > 1) layers.blocks.push_back(compared_gates_figure(study));
  report.sections.push_back(std::move(layers));
  return report;
}

std::string to_text(const ModelComparison& comparison) {
  const Study& study = comparison.study;
  std::string text = attention_text(study);
  for (const PairedDifference& difference : comparison.differences)
    text += fmt::format("{}, {} minus {}: {}, p = {:.3g}\n", difference.figure,
                        study.models[difference.model].name, study.models.front().name,
                        interval_words(difference.difference), difference.p);
  return text;
}

}  // namespace sluice
