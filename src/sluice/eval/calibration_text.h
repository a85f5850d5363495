// Interventions as people write them, with the text that their means and shuffles come from.
#pragma once

#include <string>
#include <vector>

#include "sluice/base/job_control.h"
#include "sluice/eval/text_source.h"
#include "sluice/infer/loaded_model.h"
#include "sluice/probe/calibration.h"

namespace sluice {

// The changed text, as far as calibration text is cut like it.
struct CalibrationCut {
  int64_t tokens = 0;  // that a sequence of it feeds, at most
  BeginOfText begin_of_text = BeginOfText::None;
};

// The first chunks of a calibration text. Everybody who calibrates from a text takes these, so that a change
// has the same means and donors wherever texts of one length are changed: at most 16, each as long as a chunk
// of the changed text, which is one token longer than what is fed; or one of all tokens if there are fewer.
// Bad input if there is nothing to read.
ChunkedText read_calibration(const LoadedModel& model, const TextSource& source, const CalibrationCut& cut,
                             const JobControl& control = {});

// What of each chunk passes the model: the last token is predicted, not fed.
std::vector<std::vector<TokenId>> fed_sequences(const ChunkedText& text);

// Bad input, with `where`, if shuffles of a text that is cut so would find no value at its last positions.
void check_long_enough(const ChunkedText& calibration, const CalibrationCut& cut, const std::string& where);

struct CalibrationText {
  std::vector<std::string> files = {};  // as --data takes them, but not standard input; none: there is none
  CalibrationCut cut = {};
};

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
