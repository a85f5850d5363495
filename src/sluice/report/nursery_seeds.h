// The nursery's pairs trained with several seeds, which takes hours: tables of docs/results, built into the
// program. `sluice experiment` makes them; what their figures are is on the pages beside them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/experiment/statistics.h"

namespace sluice {

struct StoredTable {
  std::string_view name;  // of its file, without the ending
  std::string_view text;
};

// Defined in a source that the build makes from the files.
std::span<const StoredTable> stored_tables();

struct NurserySeed {
  std::string variant;  // "nursery-headwise"
  int64_t seed = 0;
  double validation_loss = 0;
  double sink = 0;
  double max_activation = 0;
  double copy_accuracy = 0;
  double excess = 0;
};

// A run with an empty cell, as those that diverged have them, solves nothing. Bad input that names the line
// for a cell that is anything but a number.
std::vector<NurserySeed> read_nursery_seeds(std::string_view csv, const std::string& name);

struct NurseryPair;
std::vector<NurserySeed> stored_nursery_seeds(const NurseryPair& pair);

// The first: what the others are compared with.
const std::string& stored_baseline(std::span<const NurserySeed> seeds);

// Names of the variants, in the order in which they come.
std::vector<std::string> variants_of(std::span<const NurserySeed> seeds);

// Of the variant's runs that solve the task (nursery_findings.h); none if no run does.
std::optional<MeanInterval> mean_of_seeds(std::span<const NurserySeed> seeds, const std::string& variant,
                                          double NurserySeed::*figure);

// The variant's minus the baseline's; pairs of which one does not solve the task do not count. Experiments
// train their first seeds first, so the lowest is the first that was planned.
DifferenceAtLook difference_of_seeds(std::span<const NurserySeed> seeds, const std::string& variant,
                                     double NurserySeed::*figure, std::span<const ExperimentLook> looks);

}  // namespace sluice
