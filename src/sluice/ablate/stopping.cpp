#include "sluice/ablate/stopping.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sluice {

const char* name_of(RunVerdict verdict) {
  switch (verdict) {
    case RunVerdict::Worse:
      return "worse";
    case RunVerdict::Better:
      return "better";
    case RunVerdict::Equivalent:
      return "equivalent";
    case RunVerdict::Undecided:
      break;
  }
  return "undecided";
}

std::optional<Interval> simultaneous_interval(const ConfidenceSequence& effect, const StoppingRule& rule) {
  return effect.interval(rule.error_of_one());
}

std::optional<Interval> simultaneous_interval(std::span<const double> values, const StoppingRule& rule) {
  ConfidenceSequence sequence;
  for (const double value : values) sequence.add(value);
  return simultaneous_interval(sequence, rule);
}

RunVerdict verdict_of(const ConfidenceSequence& effect, const StoppingRule& rule) {
  const std::optional<Interval> interval = simultaneous_interval(effect, rule);
  if (!interval) return RunVerdict::Undecided;
  if (interval->low >= -rule.margin && interval->high <= rule.margin) return RunVerdict::Equivalent;
  if (interval->low > 0) return RunVerdict::Worse;
  return interval->high < 0 ? RunVerdict::Better : RunVerdict::Undecided;
}

std::string open_because(const ConfidenceSequence& effect, const StoppingRule& rule) {
  if (verdict_of(effect, rule) != RunVerdict::Undecided) return {};
  if (effect.count() < ConfidenceSequence::kFewest)
    return fmt::format("fewer than {} chunks say nothing", ConfidenceSequence::kFewest);
  const std::optional<Interval> interval = simultaneous_interval(effect, rule);
  if (!interval) return fmt::format("too few chunks for {} comparisons", rule.comparisons);
  return fmt::format("the interval for all {} comparisons, {:+.3g} to {:+.3g}, has 0 in it", rule.comparisons,
                     interval->low, interval->high);
}

bool may_rest(const ConfidenceSequence& effect, const StoppingRule& rule) {
  const std::optional<double> width = effect.half_width(rule.error_of_one());
  return width && *width <= std::max(rule.relative * std::abs(effect.mean()), rule.absolute) &&
         verdict_of(effect, rule) != RunVerdict::Undecided;
}

}  // namespace sluice
