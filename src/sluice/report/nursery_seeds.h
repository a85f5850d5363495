// The nursery's pairs trained with several seeds, which takes hours: the experiments that did it, with what
// their ledgers know, built into the program. Their pages are in docs/results.
#pragma once

#include <span>
#include <string_view>

#include "sluice/experiment/experiment_result.h"

namespace sluice {

struct StoredText {
  std::string_view name;  // of its file, without the ending
  std::string_view text;
};

// Defined in sources that the build makes from the files.
std::span<const StoredText> stored_experiments();
std::span<const StoredText> stored_ledgers();

// Of the experiment of that name.
ExperimentResult stored_result(std::string_view name);

struct NurseryPair;
ExperimentResult stored_seeds(const NurseryPair& pair);

}  // namespace sluice
