// What may be said of a difference over pairs of seeds: a verdict at a look that was planned, and not before
// the first. What is seen earlier is a number without an interval, not an answer.
#pragma once

#include <set>
#include <span>
#include <string>

#include "sluice/experiment/statistics.h"
#include "sluice/report/report.h"

namespace sluice {

// The difference says what is compared, and what n counts if that is not pairs of seeds; its value, interval
// and n come from the look. Of one before its first look, `looks` says when that is.
Finding planned_finding(Difference difference, const DifferenceAtLook& at_look,
                        std::span<const ExperimentLook> looks);

// "98 %", or "95 % and 98 %" while variants are at different looks: what each may err is spent.
std::string confidences_text(const std::set<double>& errors);

// What the caption of several differences says of their intervals.
class ShownIntervals {
 public:
  explicit ShownIntervals(std::span<const ExperimentLook> looks) : looks_(looks) {}

  void add(const DifferenceAtLook& at_look);
  bool has_any() const;

  // "with 95 % and 98 % intervals; no interval before the first look, at 5 pairs of seeds"
  std::string text() const;

 private:
  std::span<const ExperimentLook> looks_;
  std::set<double> errors_ = {};
  bool waits_ = false;  // whether one is before its first look
};

}  // namespace sluice
