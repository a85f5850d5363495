// Interventions as people write them, with the text that their means and shuffles come from.
#pragma once

#include <string>
#include <vector>

#include "sluice/base/job_control.h"
#include "sluice/eval/chunked_text.h"
#include "sluice/infer/loaded_model.h"
#include "sluice/probe/calibration.h"

namespace sluice {

struct CalibrationText {
  std::vector<std::string> files = {};  // as --data takes them, but not standard input; none: there is none
  int64_t tokens = 0;                   // that a sequence of the changed text feeds, at most
  BeginOfText begin_of_text = BeginOfText::None;  // of the changed text
  int64_t sequences = 16;                         // at most
};

// Sequences of as many tokens as the changed text's, or one of all tokens if there are fewer. Bad input if
// there is nothing to read.
std::vector<std::vector<TokenId>> read_calibration(const LoadedModel& model, const CalibrationText& text,
                                                   const JobControl& control = {});

// Parsed, and calibrated if one of them needs it. Usage error if there is no calibration text then; bad input
// if it is too short for a shuffle.
std::vector<Intervention> calibrated_interventions(const LoadedModel& model,
                                                   const std::vector<std::string>& interventions,
                                                   const CalibrationText& text,
                                                   const JobControl& control = {});

// The same of interventions that are parsed already, of a plan's for instance. Null if none needs one.
std::shared_ptr<const Calibration> calibration_for(const LoadedModel& model,
                                                   std::span<const Intervention> interventions,
                                                   const CalibrationText& text,
                                                   const JobControl& control = {});

}  // namespace sluice
