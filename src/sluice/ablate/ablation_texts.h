// The texts of an ablation as a model sees them: chunks to evaluate, and others to calibrate with.
#pragma once

#include <set>
#include <span>

#include "sluice/ablate/ablation.h"
#include "sluice/probe/intervention.h"

namespace sluice {

// A text as one model sees it.
struct PreparedText {
  ChunkedText text;              // what is evaluated
  int64_t evaluated = 0;         // its chunks
  ChunkedText calibration = {};  // other tokens
  std::string calibration_name = {};
  std::vector<std::string> warnings = {};  // sentences
};

// A usage error for a file that is given twice, and for standard input that would be read twice.
void check_sources(const AblationRequest& request);

// Bad input that names the model and the text if one is too short, or if two are the same.
std::vector<PreparedText> prepare_texts(const LoadedModel& model, const AblationRequest& request,
                                        const JobControl& control = {});

// Whether what these take from calibration text is there: bad input that names it if its sequences are too
// short for a shuffle; a warning with the text if there are few of them, or few tokens for means.
void check_calibration_of(std::vector<PreparedText>& texts, const AblationRequest& request,
                          std::span<const Intervention> interventions);

// Those that were not told before.
void tell_warnings(std::span<const PreparedText> texts, std::set<std::string>& told,
                   const JobControl& control);

}  // namespace sluice
