#include "sluice/report/planned_finding.h"

#include <fmt/format.h>

#include "sluice/report/table_parts.h"

namespace sluice {

Finding planned_finding(Difference difference, const PlannedDifference& planned,
                        std::span<const ExperimentLook> looks) {
  if (!planned.look)
    return {.verdict = Verdict::Undecided,
            .text = fmt::format(
                "{} of {}: not looked at yet. The first planned look is at {} pairs of seeds; {} have ended.",
                difference.what, difference.subject, looks.front().pairs, planned.pairs)};
  if (!planned.difference)
    return {.verdict = Verdict::Undecided,
            .text = fmt::format("{} of {}: of {} pairs of seeds none counts.", difference.what,
                                difference.subject, planned.look->pairs)};
  const MeanInterval& mean = *planned.difference;
  difference.value = mean.mean;
  difference.n = mean.count;
  if (difference.counted.empty()) difference.counted = "pairs of seeds";
  difference.error = planned.error();
  if (mean.half_width) difference.interval = within(around(mean), difference.possible);
  return finding_of(difference);
}

std::optional<MeanInterval> shown_difference(const PlannedDifference& planned) {
  std::optional<MeanInterval> shown = planned.difference;
  if (shown && !planned.look) shown->half_width.reset();
  return shown;
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

void ShownIntervals::add(const PlannedDifference& planned) {
  if (planned.look)
    errors_.insert(planned.error());
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
