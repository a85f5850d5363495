// The result of a sweep as tables. In the text and in to_json() a variant is a row, with intervals over its
// seeds and its differences from the first variant, paired by seed; in the CSV a run is one.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "sluice/experiment/statistics.h"
#include "sluice/experiment/sweep.h"

namespace sluice {

// A number of a run's last validation, as a column.
struct SweepColumn {
  const char* key;  // as in metrics.jsonl
  const char* title;
  int digits;
  double (*value)(const Validation&);  // NaN: the run does not have it
  bool is_compared = true;             // with the first variant; a baseline has no gates to compare
};

std::span<const SweepColumn> sweep_columns();

// None if no run has it.
std::optional<MeanInterval> over_seeds(const std::vector<SweepRun>& runs, const SweepColumn& column);

// The variant's minus the first's, of the runs whose seed both have.
std::optional<MeanInterval> paired_difference(const SweepVariant& variant, const SweepVariant& first,
                                              const SweepColumn& column);

int64_t spikes_of(const std::vector<SweepRun>& runs);
int64_t diverged_of(const std::vector<SweepRun>& runs);

std::string to_text(const SweepResult& result);
std::string sweep_csv(const SweepResult& result);

}  // namespace sluice
