#include "sluice/ablate/stopping.h"

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

RunVerdict verdict_of(const ConfidenceSequence& effect, const StoppingRule& rule) {
  const std::optional<double> width = effect.half_width(rule.error_of_one());
  if (!width) return RunVerdict::Undecided;
  const double low = effect.mean() - *width, high = effect.mean() + *width;
  if (low >= -rule.margin && high <= rule.margin) return RunVerdict::Equivalent;
  if (low > 0) return RunVerdict::Worse;
  return high < 0 ? RunVerdict::Better : RunVerdict::Undecided;
}

bool may_rest(const ConfidenceSequence& effect, const StoppingRule& rule) {
  const std::optional<double> width = effect.half_width(rule.error_of_one());
  return width && *width <= std::max(rule.relative * std::abs(effect.mean()), rule.absolute) &&
         verdict_of(effect, rule) != RunVerdict::Undecided;
}

}  // namespace sluice
