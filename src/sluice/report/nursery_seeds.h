// The nursery's models trained with several seeds, which takes an hour: docs/results/nursery.csv, built into
// the program. `sluice experiment` makes the file; what its figures are is in docs/results/nursery.md.
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

// Bad input that names the line if a number is missing or is none.
std::vector<NurserySeed> read_nursery_seeds(std::string_view csv, const std::string& name);

std::vector<NurserySeed> stored_nursery_seeds();

// Names of the variants, in the order in which they come.
std::vector<std::string> variants_of(std::span<const NurserySeed> seeds);

// Of the variant's runs that solve the task (nursery_findings.h); none if no run does.
std::optional<MeanInterval> mean_of_seeds(std::span<const NurserySeed> seeds, const std::string& variant,
                                          double NurserySeed::*figure);

// The variant's minus the baseline's, of the seeds with which both solve the task; none if there is no such
// seed.
std::optional<MeanInterval> difference_of_seeds(std::span<const NurserySeed> seeds,
                                                const std::string& variant, double NurserySeed::*figure);

}  // namespace sluice
