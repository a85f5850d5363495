// The texts of an ablation as a model sees them: chunks to evaluate, and others to calibrate with.
#pragma once

#include "sluice/ablate/ablation.h"

namespace sluice {

// A text as one model sees it.
struct PreparedText {
  ChunkedText text;
  int64_t evaluated = 0;         // chunks: the first ones
  ChunkedText calibration = {};  // other tokens
  std::string calibration_name = {};
  std::vector<std::string> warnings = {};  // sentences
};

// A usage error for a file that is given twice, and for standard input that would be read twice.
void check_sources(const AblationRequest& request);

// Bad input that names the model and the text if one is too short, or if two are the same.
std::vector<PreparedText> prepare_texts(const LoadedModel& model, const AblationRequest& request,
                                        const JobControl& control = {});

}  // namespace sluice
