// Models beside each other, paired: the same sequences, and for each figure the difference from the first
// model with its interval and a test.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sluice/analysis/study.h"

namespace sluice {

// A figure that each sequence of a text has. NaN where the model has none.
struct SequenceFigure {
  std::string name;   // "nll"
  std::string words;  // "the negative log-likelihood per token"
  std::function<std::vector<double>(const Look&)> values;
  std::optional<double> margin = {};  // differences up to this do not matter; none: nobody can say
};

// What models are compared by: likelihood, attention on the key, largest activation, mean gate.
const std::vector<SequenceFigure>& compared_figures();

struct PairedDifference {
  std::string figure, words;
  size_t model = 0;  // against the first
  Estimate difference = {};
  std::optional<double> margin = {};  // of the figure
  double p = 1;  // corrected for all differences: signs of the sequences' differences drawn anew
};

struct ModelComparison {
  Study study;
  std::vector<PairedDifference> differences;  // of figures that both have
};

// The models must have seen the same tokens (StudyRequest::same_text).
ModelComparison compare_models(Study study);

nlohmann::ordered_json to_json(const ModelComparison& comparison);

}  // namespace sluice
