#include "sluice/report/planned_finding.h"

#include <fmt/format.h>

#include "sluice/base/assert.h"

namespace sluice {

Finding planned_finding(Difference difference, const DifferenceAtLook& at_look,
                        std::span<const ExperimentLook> looks) {
  SLUICE_ASSERT(at_look.look || !looks.empty(), "planned_finding: {} waits for no look", difference.what);
  if (!at_look.look)
    return {.verdict = Verdict::Undecided,
            .text = fmt::format(
                "{} of {}: not looked at yet. The first planned look is at {} pairs of seeds; {} have ended.",
                difference.what, difference.subject, looks.front().pairs, at_look.ended_pairs)};
  if (!at_look.difference)
    return {.verdict = Verdict::Undecided,
            .text = fmt::format("{} of {}: of {} pairs of seeds none counts.", difference.what,
                                difference.subject, at_look.look->pairs)};
  const MeanInterval& mean = *at_look.difference;
  difference.value = mean.mean;
  difference.n = mean.count;
  if (difference.counted.empty()) difference.counted = "pairs of seeds";
  difference.error = at_look.error();
  if (mean.half_width) difference.interval = within(around(mean), difference.possible);
  return finding_of(difference);
}

std::string confidences_text(const std::set<double>& errors) {
  std::string text;
  for (auto error = errors.rbegin(); error != errors.rend(); ++error)
    text += (text.empty() ? "" : " and ") + confidence_text(*error);
  return text;
}

bool ShownIntervals::has_any() const {
  return !errors_.empty();
}

void ShownIntervals::add(const DifferenceAtLook& at_look) {
  if (at_look.look)
    errors_.insert(at_look.error());
  else
    waits_ = true;
}

std::string ShownIntervals::text() const {
  std::string text;
  if (!errors_.empty()) text = fmt::format("with {} intervals", confidences_text(errors_));
  if (!waits_) return text;
  return fmt::format("{}no interval before the first look, at {} pairs of seeds",
                     text.empty() ? "" : text + "; ", looks_.front().pairs);
}

}  // namespace sluice
