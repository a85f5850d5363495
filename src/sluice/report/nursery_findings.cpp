#include "sluice/report/nursery_findings.h"

#include <fmt/format.h>

#include <algorithm>

#include "sluice/base/assert.h"
#include "sluice/report/planned_finding.h"
#include "sluice/report/table_parts.h"

namespace sluice {
namespace {

// A figure that pairs of models and pairs of seeds are compared by.
struct NurseryFigure {
  const char* what;
  const char* in_comparison;  // its name in compared_figures()
  double MeasuredTraining::*of_seed;
  std::optional<double> margin = {};
  std::optional<Interval> possible = {};  // differences
};

constexpr NurseryFigure kSinkFigure{
    "attention on the first token", "sink", &MeasuredTraining::sink, {}, kShareDifferences};
constexpr NurseryFigure kActivationFigure{"the largest activation", "largest_activation_of_a_sequence",
                                          &MeasuredTraining::max_activation};
constexpr NurseryFigure kLossFigure{"loss on held-out text", "nll", &MeasuredTraining::validation_loss,
                                    NurseryLimits::kEqualLoss};
constexpr NurseryFigure kNurseryFigures[] = {kSinkFigure, kActivationFigure, kLossFigure};

Difference pair_difference(const NurseryResult& result, const NurseryFigure& figure) {
  const auto found =
      std::ranges::find(result.looked.differences, figure.in_comparison, &PairedDifference::figure);
  SLUICE_ASSERT(found != result.looked.differences.end(), "nursery: the models were not compared by {}",
                figure.in_comparison);
  return {.what = figure.what,
          .subject = short_name(result.models[1].variant),
          .against = short_name(result.models[0].variant),
          .value = found->difference.value,
          .interval = found->difference.ci95,
          .n = result.studied(0).look.sequences,
          .counted = "sequences",
          .margin = figure.margin};
}

// "0.237, 5.6 times as much"
std::string times_floor(const Look& look) {
  return fmt::format("{:.3f}, {:.1f} times as much", look.sink.value, look.sink.value / look.key_floor);
}

// "baseline 0.998 and headwise 0.996"
std::string copies_text(const NurseryResult& result) {
  std::string text;
  for (const NurseryModel& model : result.models) {
    if (!text.empty()) text += " and ";
    text += fmt::format("{} {:.3f}", short_name(model.variant), model.score.copy_accuracy);
  }
  return text;
}

Finding not_counted(const NurseryResult& result) {
  return {.verdict = Verdict::Undecided,
          .text = fmt::format("The sinks of this pair are not compared: after triggers {} of {} letters are "
                              "copied right, and {} of "
                              "each model is the limit that was set beforehand. A model that has not learnt "
                              "to copy may lack a sink for "
                              "that reason alone.",
                              copies_text(result), integer_text(result.models[0].score.copies),
                              NurseryLimits::kSolved)};
}

std::string sink_sentence(const NurseryResult& result) {
  const Look& baseline = result.studied(0).look;
  return fmt::format(
      "Both models solve the task: after triggers {} of {} letters are copied right (the limit is {}). The "
      "baseline {}: "
      "its attention on the first token is {} as uniform attention would put there ({:.3f}); from {} times "
      "on it counts "
      "as a sink.",
      copies_text(result), integer_text(result.models[0].score.copies), NurseryLimits::kSolved,
      surely_has_sink(baseline) ? "has a sink" : "has no sink to speak of", times_floor(baseline),
      baseline.key_floor, kSinkTimesUniform);
}

// What the gate did to a sink that is there.
Finding gate_sentence(const NurseryResult& result) {
  const Verdict sinks = verdict_of(pair_difference(result, kSinkFigure));
  const bool equal_loss = verdict_of(pair_difference(result, kLossFigure)) == Verdict::Equivalent;
  const std::string gated = fmt::format("With a gate per head it is {}", times_floor(result.studied(1).look));
  if (sinks == Verdict::Undecided)
    return {Verdict::Undecided, gated + ": a difference that these sequences do not decide."};
  if (!equal_loss)
    return {
        Verdict::Undecided,
        fmt::format("{}; but the losses are not equal within {} nats per token, so the two are not compared.",
                    gated, NurseryLimits::kEqualLoss)};
  return {sinks,
          fmt::format("{}: {} at equal loss.", gated, sinks == Verdict::Lower ? "less," : "more, not less,")};
}

Finding seed_finding(const NurseryPair& pair, const ExperimentResult& seeds, const NurseryFigure& figure) {
  const PlannedVariant* variant = find_variant(seeds.variants, pair.stored_variant);
  SLUICE_ASSERT(variant != nullptr, "nursery: {} has no {}", pair.stored, pair.stored_variant);
  return planned_finding({.what = figure.what,
                          .subject = short_name(pair.stored_variant),
                          .against = "baseline",
                          .margin = figure.margin,
                          .possible = figure.possible},
                         planned_difference(seeds, *variant, figure.of_seed), seeds.experiment.looks);
}

}  // namespace

std::string short_name(const std::string& variant) {
  for (const NurseryPair& pair : kNurseryPairs)
    if (const std::string prefix = std::string(pair.stem) + "-"; variant.starts_with(prefix))
      return variant.substr(prefix.size());
  return variant;
}

bool counts(const NurseryResult& result) {
  return std::ranges::all_of(result.models,
                             [](const NurseryModel& model) { return solves(model.score.copy_accuracy); });
}

bool surely_has_sink(const Look& look) {
  const Estimate measured = look.sink;
  const double low = measured.ci95 ? measured.ci95->low : measured.value;
  return low >= kSinkTimesUniform * look.key_floor;
}

Finding nursery_answer(const NurseryResult& result) {
  if (!counts(result)) return not_counted(result);
  Finding answer{.verdict = Verdict::Undecided, .text = sink_sentence(result)};
  if (surely_has_sink(result.studied(0).look)) {
    const Finding gate = gate_sentence(result);
    answer.verdict = gate.verdict;
    answer.text += " " + gate.text;
  } else {
    answer.text += " So there is nothing that a gate could take away.";
  }
  answer.text += " One seed shows what can happen, not what always happens.";
  return answer;
}

std::vector<Finding> pair_findings(const NurseryResult& result) {
  std::vector<Finding> findings;
  if (!counts(result)) return findings;
  for (const NurseryFigure& figure : kNurseryFigures)
    findings.push_back(finding_of(pair_difference(result, figure)));
  return findings;
}

std::vector<Finding> seed_findings(const NurseryPair& pair, const ExperimentResult& seeds) {
  std::vector<Finding> findings;
  for (const NurseryFigure& figure : kNurseryFigures) findings.push_back(seed_finding(pair, seeds, figure));
  return findings;
}

}  // namespace sluice
