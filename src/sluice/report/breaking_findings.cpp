// What breaking the models of an experiment says: a verdict for every intervention that is judged.
#include <fmt/format.h>

#include <algorithm>

#include "sluice/experiment/experiment_effects.h"
#include "sluice/report/experiment_parts.h"
#include "sluice/report/planned_finding.h"

namespace sluice {
namespace {

// A variant under an intervention, beside itself as it is or under another one.
struct BreakingComparison {
  const PlannedVariant& variant;
  size_t intervention = 0;
  std::optional<size_t> against = {};
  EffectAtLook effect = {};
};

// Controls are not judged, but what stands against one is.
std::vector<BreakingComparison> breaking_comparisons(const ExperimentResult& result) {
  const std::vector<PlannedIntervention>& interventions = result.experiment.breaking->interventions;
  std::vector<BreakingComparison> comparisons;
  for (size_t i = 0; i < interventions.size(); ++i) {
    if (interventions[i].is_control) continue;
    const std::optional<size_t> against = interventions[i].against;
    for (const PlannedVariant& variant : result.variants) {
      if (!variant.can_be_given.at(i)) continue;
      comparisons.push_back({variant, i, {}, effect_at_look(result, variant, i)});
      if (against && variant.can_be_given.at(*against))
        comparisons.push_back({variant, i, against, effect_at_look(result, variant, i, against)});
    }
  }
  return comparisons;
}

Finding waiting_finding(const ExperimentResult& result, int64_t waiting) {
  return {.verdict = Verdict::Undecided,
          .text = fmt::format("Not answered yet: {} before the runs of all {} planned seeds have ended.",
                              counted_text(waiting, "effect of an intervention", "effects of interventions"),
                              result.experiment.seeds)};
}

// "Higher in 10 of 10 models." Means of a few that break and many that hardly do have wide intervals.
std::string worse_text(const ExperimentResult& result, const BreakingComparison& comparison) {
  if (comparison.against) return "";
  const std::vector<double> effects = effects_on_loss(result, comparison.variant, comparison.intervention);
  return fmt::format("Higher by more than {} in {} of {} models.", result.experiment.equal_loss,
                     worse_by_more(effects, result.experiment.equal_loss), effects.size());
}

Finding breaking_finding(const ExperimentResult& result, const BreakingComparison& comparison) {
  const std::vector<PlannedIntervention>& interventions = result.experiment.breaking->interventions;
  const std::string subject =
      fmt::format("{}, {}", comparison.variant.point.name(), interventions[comparison.intervention].name);
  const std::string against =
      comparison.against ? fmt::format("the same models, {}", interventions[*comparison.against].name)
                         : "the same models as they are";
  if (const int64_t beyond = comparison.effect.beyond; beyond > 0)
    return {.verdict = Verdict::Undecided,
            .text = fmt::format("Loss of {}, beside {}: beyond all numbers in {}, so there is no mean.",
                                subject, against, counted_text(beyond, "model"))};
  const DifferenceAtLook& planned = comparison.effect.planned;
  if (!planned.difference)
    return {.verdict = Verdict::Undecided,
            .text = fmt::format("Loss of {}, beside {}: no model counts.", subject, against)};
  return planned_finding({.what = "loss",
                          .subject = subject,
                          .against = against,
                          .counted = "models",
                          .margin = result.experiment.equal_loss,
                          .whose_margin = kMarginOfPlan,
                          .limits = worse_text(result, comparison)},
                         planned, {});  // it has come to its look
}

}  // namespace

int64_t looked_at_effects(const ExperimentResult& result) {
  if (result.broken.empty()) return 0;
  return std::ranges::count_if(breaking_comparisons(result), [](const BreakingComparison& each) {
    return each.effect.planned.look && each.effect.planned.difference;
  });
}

std::vector<ReportBlock> experiment_breaking_findings(const ExperimentResult& result) {
  std::vector<ReportBlock> findings;
  if (result.broken.empty()) return findings;
  int64_t waiting = 0;
  for (const BreakingComparison& comparison : breaking_comparisons(result)) {
    if (comparison.effect.planned.look)
      findings.emplace_back(breaking_finding(result, comparison));
    else
      ++waiting;
  }
  if (waiting > 0) findings.emplace_back(waiting_finding(result, waiting));
  return findings;
}

}  // namespace sluice
